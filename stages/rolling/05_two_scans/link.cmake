# Code for compute capability 9.0 alone, in which warps pass registers on; and PTX for later devices.
if(backend STREQUAL "cuda")
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "90a-real;90-virtual")
endif()
