# Compiles no_problem.cpp, which must fail with every sentence.
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -DLAB_EMULATED=1 -I${ROOT} ${ROOT}/tests/device/no_problem.cpp
  RESULT_VARIABLE code ERROR_VARIABLE text)
if(code EQUAL 0)
  message(FATAL_ERROR "a problem without anything compiles")
endif()
foreach(sentence IN ITEMS
    "a problem says what it is and what one output is called: `title`, `unit`"
    "a problem has `parameters`, and describe() tells of each of them"
    "a problem's `elements` are the types of its output and of its inputs"
    "a problem's layout(p) names its arrays, and `ceiling` what moves as many bytes"
    "a problem's stages are launched with an `input` and an `output`"
    "a problem bounds the error of an output: relative_error(p)"
    "a problem lists what its stages are tried on: cases(tile, thorough, seed)")
  string(FIND "${text}" "${sentence}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "nothing says: ${sentence}")
  endif()
endforeach()
