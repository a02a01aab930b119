if(backend STREQUAL "cuda")
  include(${CMAKE_SOURCE_DIR}/stages/udf/texts.cmake)
  target_link_libraries(${target} PUBLIC lab_ptx)
endif()
