// See gl.h.
#pragma once

#include <GL/gl.h>

extern "C" {
void gluOrtho2D(GLdouble, GLdouble, GLdouble, GLdouble);
void gluPerspective(GLdouble, GLdouble, GLdouble, GLdouble);
}
