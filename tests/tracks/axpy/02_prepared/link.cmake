# A library that this stage alone is linked with (the one of mathematics, as an example), and a definition of its own.
target_link_libraries(${target} PUBLIC m)
target_compile_definitions(${target} PRIVATE AXPY_BLOCKS_PER_MULTIPROCESSOR=4)
