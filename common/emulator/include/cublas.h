// Refused by name.
#error \
    "cuBLAS runs on a GPU only and is not emulated: leave the library's part of the program out, or put your own kernel in its place"
