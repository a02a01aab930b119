# What a stage that calls NCCL compiles and links with: its link.cmake includes this. The emulator has calls of its own
# (common/emulator/core/nccl.hpp); for CUDA without NCCL the stage is built all the same, and says why it cannot run.
if(backend STREQUAL "cuda" AND LAB_NCCL_LIBRARY AND LAB_NCCL_INCLUDE)
  target_compile_definitions(${target} PRIVATE LAB_WITH_NCCL=1)
  target_include_directories(${target} SYSTEM PRIVATE ${LAB_NCCL_INCLUDE})
  target_link_libraries(${target} PUBLIC ${LAB_NCCL_LIBRARY})
endif()
