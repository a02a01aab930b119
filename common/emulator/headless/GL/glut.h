// See gl.h.
#pragma once

#include <GL/gl.h>
#include <GL/glu.h>

enum : unsigned {
  GLUT_RGB = 0,
  GLUT_RGBA = 0,
  GLUT_SINGLE = 0,
  GLUT_DOUBLE = 2,
  GLUT_ALPHA = 8,
  GLUT_DEPTH = 16,
  GLUT_LEFT_BUTTON = 0,
  GLUT_MIDDLE_BUTTON = 1,
  GLUT_RIGHT_BUTTON = 2,
  GLUT_DOWN = 0,
  GLUT_UP = 1,
  GLUT_KEY_LEFT = 100,
  GLUT_KEY_UP = 101,
  GLUT_KEY_RIGHT = 102,
  GLUT_KEY_DOWN = 103,
  GLUT_WINDOW_WIDTH = 102,
  GLUT_WINDOW_HEIGHT = 103,
  GLUT_ELAPSED_TIME = 700,
};

extern "C" {
void glutInit(int* count, char** words);
void glutInitWindowSize(int width, int height);
int glutCreateWindow(const char* title);
void glutDisplayFunc(void (*function)());
void glutIdleFunc(void (*function)());
void glutKeyboardFunc(void (*function)(unsigned char key, int x, int y));
void glutPostRedisplay();
void glutSwapBuffers();
void glutMainLoop();
void glutLeaveMainLoop();
int glutGet(GLenum what);
void glutInitDisplayMode(unsigned);
void glutInitWindowPosition(int, int);
void glutSetWindowTitle(const char*);
void glutReshapeWindow(int, int);
void glutDestroyWindow(int);
void glutFullScreen();
void glutReshapeFunc(void (*)(int, int));
void glutMouseFunc(void (*)(int, int, int, int));
void glutMotionFunc(void (*)(int, int));
void glutPassiveMotionFunc(void (*)(int, int));
void glutSpecialFunc(void (*)(int, int, int));
void glutVisibilityFunc(void (*)(int));
void glutTimerFunc(unsigned, void (*)(int), int);
void glutCloseFunc(void (*)());
void glutSetOption(GLenum, int);
void glutBitmapCharacter(void*, int);
void glutSolidSphere(GLdouble, GLint, GLint);
}
