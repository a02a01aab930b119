// Refused by name.
#error "OpenGL and EGL interoperation need a GPU and are not emulated: write the image to a file"
