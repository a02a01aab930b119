// OpenGL's names for programs that draw into a window, which `lab emulate` does not open
// (headless_window.cpp). They are taken where no OpenGL is installed.
#pragma once

using GLenum = unsigned;
using GLboolean = unsigned char;
using GLbitfield = unsigned;
using GLbyte = signed char;
using GLshort = short;
using GLint = int;
using GLsizei = int;
using GLubyte = unsigned char;
using GLushort = unsigned short;
using GLuint = unsigned;
using GLfloat = float;
using GLclampf = float;
using GLdouble = double;
using GLclampd = double;
using GLvoid = void;

enum : GLenum {
  GL_FALSE = 0,
  GL_TRUE = 1,
  GL_POINTS = 0x0000,
  GL_LINES = 0x0001,
  GL_LINE_LOOP = 0x0002,
  GL_LINE_STRIP = 0x0003,
  GL_TRIANGLES = 0x0004,
  GL_QUADS = 0x0007,
  GL_LESS = 0x0201,
  GL_LEQUAL = 0x0203,
  GL_ONE = 1,
  GL_SRC_ALPHA = 0x0302,
  GL_ONE_MINUS_SRC_ALPHA = 0x0303,
  GL_DEPTH_TEST = 0x0B71,
  GL_BLEND = 0x0BE2,
  GL_UNPACK_ALIGNMENT = 0x0CF5,
  GL_TEXTURE_2D = 0x0DE1,
  GL_UNSIGNED_BYTE = 0x1401,
  GL_FLOAT = 0x1406,
  GL_MODELVIEW = 0x1700,
  GL_PROJECTION = 0x1701,
  GL_LUMINANCE = 0x1909,
  GL_RGB = 0x1907,
  GL_RGBA = 0x1908,
  GL_SMOOTH = 0x1D01,
  GL_NEAREST = 0x2600,
  GL_LINEAR = 0x2601,
  GL_TEXTURE_MAG_FILTER = 0x2800,
  GL_TEXTURE_MIN_FILTER = 0x2801,
  GL_DEPTH_BUFFER_BIT = 0x00000100,
  GL_COLOR_BUFFER_BIT = 0x00004000,
};

extern "C" {
void glDrawPixels(GLsizei width, GLsizei height, GLenum format, GLenum type, const GLvoid* pixels);
void glFlush();
void glClearColor(GLclampf red, GLclampf green, GLclampf blue, GLclampf alpha);
GLenum glGetError();
void glClear(GLbitfield);
void glEnable(GLenum);
void glDisable(GLenum);
void glBegin(GLenum);
void glEnd();
void glFinish();
void glViewport(GLint, GLint, GLsizei, GLsizei);
void glMatrixMode(GLenum);
void glLoadIdentity();
void glPushMatrix();
void glPopMatrix();
void glOrtho(GLdouble, GLdouble, GLdouble, GLdouble, GLdouble, GLdouble);
void glFrustum(GLdouble, GLdouble, GLdouble, GLdouble, GLdouble, GLdouble);
void glRotatef(GLfloat, GLfloat, GLfloat, GLfloat);
void glTranslatef(GLfloat, GLfloat, GLfloat);
void glScalef(GLfloat, GLfloat, GLfloat);
void glColor3f(GLfloat, GLfloat, GLfloat);
void glColor4f(GLfloat, GLfloat, GLfloat, GLfloat);
void glColor3d(GLdouble, GLdouble, GLdouble);
void glColor3ub(GLubyte, GLubyte, GLubyte);
void glVertex2f(GLfloat, GLfloat);
void glVertex2i(GLint, GLint);
void glVertex2d(GLdouble, GLdouble);
void glVertex3f(GLfloat, GLfloat, GLfloat);
void glVertex3d(GLdouble, GLdouble, GLdouble);
void glTexCoord2f(GLfloat, GLfloat);
void glNormal3f(GLfloat, GLfloat, GLfloat);
void glPointSize(GLfloat);
void glLineWidth(GLfloat);
void glBlendFunc(GLenum, GLenum);
void glDepthMask(GLboolean);
void glDepthFunc(GLenum);
void glShadeModel(GLenum);
void glRasterPos2i(GLint, GLint);
void glRasterPos2f(GLfloat, GLfloat);
void glPixelStorei(GLenum, GLint);
void glPixelZoom(GLfloat, GLfloat);
void glBindTexture(GLenum, GLuint);
void glTexParameteri(GLenum, GLenum, GLint);
}
