# find_package(KernelLab): the emulator of CUDA programs.
#
#   KernelLab_EXECUTABLE            the program `lab`
#   KernelLab::emulator             headers under CUDA's names and the library, for C++ that calls the runtime
#   kernel_lab_add_executable(NAME SOURCE... [OPTIONS WORD...])   a CUDA program for the emulator
get_filename_component(kernel_lab_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(KernelLab_EXECUTABLE lab HINTS "${kernel_lab_prefix}/bin" NO_DEFAULT_PATH)

if(NOT TARGET KernelLab::emulator)
  find_package(Threads REQUIRED)
  find_package(Boost 1.70 CONFIG REQUIRED COMPONENTS context)
  file(GLOB kernel_lab_backtrace "${kernel_lab_prefix}/lib/kernel_lab/libbacktrace.*")
  add_library(KernelLab::emulator STATIC IMPORTED)
  set_target_properties(KernelLab::emulator PROPERTIES
    IMPORTED_LOCATION "${kernel_lab_prefix}/lib/kernel_lab/liblab_emulator.a"
    INTERFACE_COMPILE_DEFINITIONS LAB_EMULATED=1
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES
      "${kernel_lab_prefix}/include/kernel_lab;${kernel_lab_prefix}/include/kernel_lab/common/emulator/programs/include"
    INTERFACE_LINK_LIBRARIES
      "${kernel_lab_prefix}/lib/kernel_lab/liblab_emulated_program.a;${kernel_lab_backtrace};Boost::context;Threads::Threads")
endif()

function(kernel_lab_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "OPTIONS")
  set(sources)
  foreach(source IN LISTS program_UNPARSED_ARGUMENTS)
    get_filename_component(absolute ${source} ABSOLUTE)
    list(APPEND sources ${absolute})
  endforeach()
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}
    COMMAND ${KernelLab_EXECUTABLE} emulate ${sources} ${program_OPTIONS} -o ${CMAKE_CURRENT_BINARY_DIR}/${name}
    DEPENDS ${sources} VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()
