if(backend STREQUAL "cuda")
  include(${CMAKE_SOURCE_DIR}/stages/udf/texts.cmake)
endif()
