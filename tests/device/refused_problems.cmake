# Compiles refused_problems.cpp as it is, and with one mistake each, which the compiler must refuse in these words.
function(compile mistake)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -DLAB_EMULATED=1 -D${mistake} -I${ROOT} ${ROOT}/tests/device/refused_problems.cpp
    RESULT_VARIABLE code ERROR_VARIABLE text)
  if(NOT ARGN AND NOT code EQUAL 0)
    message(FATAL_ERROR "the problem without a mistake does not compile: ${text}")
  elseif(ARGN AND code EQUAL 0)
    message(FATAL_ERROR "${mistake} compiles")
  endif()
  foreach(sentence IN LISTS ARGN)
    string(FIND "${text}" "${sentence}" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "${mistake}: nothing says ${sentence}, but ${text}")
    endif()
  endforeach()
endfunction()

compile(NO_MISTAKE)
compile(MISSPELT_FIELD "why_invalud")
compile(MISSPELT_TEMPLATE "reference_hooks names exact_outputs")
compile(UNNAMED "reference_hooks names exact_outputs")
compile(MISSPELT_COLUMN "column_hooks names is_read")
compile(UNNAMED_COLUMN "column_hooks names is_read")
compile(EMPTY
  "a problem says what it is and what one output is called: `title`, `unit`"
  "a problem has `parameters`, and describe() tells of each of them"
  "a problem's `elements` are the types of its output and of its inputs"
  "a problem's layout(p) names its arrays, and `ceiling` what moves as many bytes"
  "a problem's stages are launched with an `input` and an `output`"
  "a problem bounds the error of an output: relative_error(p)"
  "a problem lists what its stages are tried on: cases(tile, thorough, seed)")
