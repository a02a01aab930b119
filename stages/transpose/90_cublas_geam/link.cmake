if(backend STREQUAL "cuda")
  target_link_libraries(${target} PUBLIC CUDA::cublas)
endif()
