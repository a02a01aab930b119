# Code for compute capability 9.0 alone, in which warpgroups multiply, and PTX for later devices. Not where
# nothing is optimised (preset ci): on that, ptxas of CUDA 13.0 ends with a segmentation fault.
string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
if(backend STREQUAL "cuda" AND NOT "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${configuration}}" MATCHES "-O0|-G|--device-debug")
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "90a-real;90-virtual")
endif()
