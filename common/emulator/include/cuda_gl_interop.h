// Refused by name.
#error "OpenGL interoperation needs a GPU and is not emulated: write the image to a file"
