# A toolkit may be without cuBLAS: the stage is built all the same, and says why it cannot run.
if(backend STREQUAL "cuda" AND TARGET CUDA::cublas)
  target_compile_definitions(${target} PRIVATE LAB_WITH_CUBLAS=1)
  target_link_libraries(${target} PUBLIC CUDA::cublas)
endif()
