# What a track over several GPUs compiles and links with where MPI was found, so that its stages can run as several
# processes (docs/several-gpus.md): its link.cmake includes this. Without MPI its workers say so.
if(LAB_WITH_MPI)
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/harness/device/mpi_link.cpp)
  target_link_libraries(${target} PUBLIC MPI::MPI_CXX)
endif()
