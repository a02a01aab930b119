# Compiles misspelt_hooks.cpp as it is, and with one mistake each, which the compiler must refuse by name.
function(compile mistake sentence)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -DLAB_EMULATED=1 -D${mistake} -I${ROOT} ${ROOT}/tests/device/misspelt_hooks.cpp
    RESULT_VARIABLE code ERROR_VARIABLE text)
  if(NOT sentence)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "the problem without a mistake does not compile: ${text}")
    endif()
    return()
  endif()
  if(code EQUAL 0)
    message(FATAL_ERROR "${mistake} compiles")
  endif()
  string(FIND "${text}" "${sentence}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${mistake}: nothing says ${sentence}, but ${text}")
  endif()
endfunction()

compile(NO_MISTAKE "")
compile(MISSPELT_FIELD "why_invalud")
compile(MISSPELT_TEMPLATE "reference_hooks names exact_outputs")
compile(UNNAMED "reference_hooks names exact_outputs")
