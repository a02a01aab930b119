# A person's own function (`lab apply`) is compiled at run time, whatever the stage.
if(backend STREQUAL "cuda")
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/stages/udf/own_source.cpp)
  target_link_libraries(${target} PUBLIC lab_run_time lab_ptx)
endif()
