# Run at build time, since a commit id read at configure time is soon that of another commit. The file is rewritten only
# when something changed.
#   cmake -DSOURCE_DIRECTORY=... -DTEMPLATE=... -DOUTPUT=... -DLAB_VERSION=... -DLAB_COMPILER=... -DLAB_FLAGS=... -P this
# A source tree without its repository (an archive, a copy) may be told its commit by the environment.
set(LAB_COMMIT "unknown")
if(NOT "$ENV{LAB_COMMIT}" STREQUAL "")
  set(LAB_COMMIT "$ENV{LAB_COMMIT}")
endif()
set(LAB_DIRTY "false")
find_program(GIT_PROGRAM git)
if(GIT_PROGRAM)
  execute_process(COMMAND ${GIT_PROGRAM} -C ${SOURCE_DIRECTORY} rev-parse HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(LAB_COMMIT "${commit}")
    execute_process(COMMAND ${GIT_PROGRAM} -C ${SOURCE_DIRECTORY} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(LAB_DIRTY "true")
    endif()
  endif()
endif()
string(REGEX REPLACE "([\\\"])" "\\\\\\1" LAB_FLAGS "${LAB_FLAGS}")
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
