include(${CMAKE_SOURCE_DIR}/stages/nccl.cmake)
