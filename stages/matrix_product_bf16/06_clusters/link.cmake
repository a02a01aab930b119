lab_for_sm90a(${target} ${backend})
