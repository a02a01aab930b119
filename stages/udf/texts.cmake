# For the link.cmake of a stage that compiles at run time: the track's texts as string literals, so that a worker needs
# no file beside it. `target` is the stage's object library.
set(udf_directory ${CMAKE_SOURCE_DIR}/stages/udf)
set(udf_texts ${CMAKE_BINARY_DIR}/udf_texts)

# A string literal holds at most 64 KiB in C++; each text is far shorter.
function(lab_udf_write name content)
  set(path ${udf_texts}/${name})
  if(EXISTS ${path})
    file(READ ${path} before)
    if(before STREQUAL content)
      return()
    endif()
  endif()
  file(WRITE ${path} "${content}")
endfunction()

foreach(name functions/functions kernels)
  set(source ${udf_directory}/${name}.cuh)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  get_filename_component(word ${name} NAME)
  lab_udf_write(${word}.inc "R\"text(${text})text\"\n")
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${udf_directory}/functions/*.ptx)
set(entries)
foreach(source IN LISTS sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  get_filename_component(word ${source} NAME_WLE)
  string(APPEND entries "{\"${word}\", R\"text(${text})text\"},\n")
endforeach()
lab_udf_write(ptx.inc "${entries}")

target_include_directories(${target} PRIVATE ${udf_texts})
target_link_libraries(${target} PUBLIC lab_run_time)
