# The digests of the sources that a build compiled, in sources.json beside the program, which puts them into its records.
# Always run, as it takes a tenth of a second: a new or an edited file changes them without CMake's knowledge.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_custom_target(lab_source_digests ALL
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/reports/source_digest.py
      --output ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sources.json
    BYPRODUCTS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sources.json
    VERBATIM)
  add_dependencies(lab-front lab_source_digests)
  add_dependencies(lab-ladder lab_source_digests)
endif()
