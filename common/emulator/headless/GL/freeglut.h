// See gl.h.
#pragma once

#include <GL/glut.h>
