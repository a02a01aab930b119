include(${CMAKE_SOURCE_DIR}/stages/mpi.cmake)
