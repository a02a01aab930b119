// Refused by name.
#error "OpenGL windows and their extensions (helper_gl.h) are not emulated: write the image to a file"
