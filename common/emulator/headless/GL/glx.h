// See gl.h.
#pragma once

#include <GL/gl.h>
