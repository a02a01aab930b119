// Refused by name.
#error "CUPTI looks at a GPU's own counters and is not emulated: leave the profiling out; lab emulate --observe counts"
