// Refused by name.
#error "cuTENSOR runs on a GPU only and is not emulated: leave the library's part of the program out"
