// OpenGL and GLUT without a screen: a program that shows what its kernels have computed draws a few frames,
// is asked to end by the key that such programs wait for, and is told how to keep the image.
#include <GL/glut.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned char escape_key = 27;
constexpr int default_frames = 3;

struct window {
  std::string title = "window";
  int width = 300, height = 300;
  void (*display)() = nullptr;
  void (*idle)() = nullptr;
  void (*keyboard)(unsigned char, int, int) = nullptr;
  bool leaves = false;
  // The last image that was drawn, from the bottom row up, three bytes for each pixel.
  int image_width = 0, image_height = 0;
  std::vector<unsigned char> image;
};

// Never destroyed: it is told of while the program ends.
window& the_window() {
  static window* const instance = new window;
  return *instance;
}

int frames() {
  const char* const text = std::getenv("LAB_WINDOW_FRAMES");
  const int count = text == nullptr ? default_frames : std::atoi(text);
  return std::max(count, 1);
}

// Once, when the program ends or its main loop does.
void tell() {
  static bool told = false;
  const window& shown = the_window();
  if (told || shown.image.empty()) return;
  told = true;
  const char* const path = std::getenv("LAB_WINDOW_FILE");
  if (path == nullptr) {
    std::fprintf(
        stderr,
        "lab: no window is opened: '%s' would show an image of %d x %d pixels; LAB_WINDOW_FILE=image.ppm "
        "keeps it\n",
        shown.title.c_str(), shown.image_width, shown.image_height);
    return;
  }
  std::FILE* const file = std::fopen(path, "wb");
  bool written = file != nullptr;
  if (written) {
    std::fprintf(file, "P6\n%d %d\n255\n", shown.image_width, shown.image_height);
    const auto row = static_cast<std::size_t>(shown.image_width) * 3;
    for (int y = shown.image_height - 1; y >= 0; --y)
      written =
          std::fwrite(shown.image.data() + static_cast<std::size_t>(y) * row, 1, row, file) == row && written;
    written = std::fclose(file) == 0 && written;
  }
  if (!written) std::fprintf(stderr, "lab: %s cannot be written\n", path);
}

}  // namespace

extern "C" {

void glDrawPixels(GLsizei width, GLsizei height, GLenum format, GLenum type, const GLvoid* pixels) {
  const int channels = format == GL_RGBA ? 4 : format == GL_RGB ? 3 : format == GL_LUMINANCE ? 1 : 0;
  if (pixels == nullptr || channels == 0 || width < 1 || height < 1) return;
  if (type != GL_UNSIGNED_BYTE && type != GL_FLOAT) return;
  window& shown = the_window();
  shown.image_width = width;
  shown.image_height = height;
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  shown.image.resize(count * 3);
  for (std::size_t at = 0; at < count; ++at) {
    for (int channel = 0; channel < 3; ++channel) {
      const std::size_t from = at * channels + (channels == 1 ? 0 : channel);
      shown.image[at * 3 + channel] =
          type == GL_UNSIGNED_BYTE
              ? static_cast<const unsigned char*>(pixels)[from]
              : static_cast<unsigned char>(std::clamp(static_cast<const float*>(pixels)[from], 0.0f, 1.0f) *
                                           255.0f);
    }
  }
}
void glFlush() {}
void glClearColor(GLclampf, GLclampf, GLclampf, GLclampf) {}
GLenum glGetError() {
  return 0;
}

void glutInit(int*, char**) {
  std::atexit(tell);
}
void glutInitWindowSize(int width, int height) {
  the_window().width = width;
  the_window().height = height;
}
int glutCreateWindow(const char* title) {
  the_window().title = title;
  return 1;
}
void glutDisplayFunc(void (*function)()) {
  the_window().display = function;
}
void glutIdleFunc(void (*function)()) {
  the_window().idle = function;
}
void glutKeyboardFunc(void (*function)(unsigned char, int, int)) {
  the_window().keyboard = function;
}
void glutPostRedisplay() {}
void glutSwapBuffers() {}
void glutLeaveMainLoop() {
  the_window().leaves = true;
}
int glutGet(GLenum what) {
  static const auto began = std::chrono::steady_clock::now();
  const window& shown = the_window();
  if (what == GLUT_WINDOW_WIDTH) return shown.width;
  if (what == GLUT_WINDOW_HEIGHT) return shown.height;
  if (what != GLUT_ELAPSED_TIME) return 0;
  return static_cast<int>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began)
          .count());
}
void glutMainLoop() {
  window& shown = the_window();
  const int count = shown.idle == nullptr ? 1 : frames();
  for (int frame = 0; frame < count && !shown.leaves; ++frame) {
    if (shown.idle != nullptr) shown.idle();
    if (shown.display != nullptr) shown.display();
  }
  if (shown.keyboard != nullptr && !shown.leaves) shown.keyboard(escape_key, 0, 0);
  std::exit(EXIT_SUCCESS);
}

// What has no effect on an image that is drawn as a whole.
void glClear(GLbitfield) {}
void glEnable(GLenum) {}
void glDisable(GLenum) {}
void glBegin(GLenum) {}
void glEnd() {}
void glFinish() {}
void glViewport(GLint, GLint, GLsizei, GLsizei) {}
void glMatrixMode(GLenum) {}
void glLoadIdentity() {}
void glPushMatrix() {}
void glPopMatrix() {}
void glOrtho(GLdouble, GLdouble, GLdouble, GLdouble, GLdouble, GLdouble) {}
void glFrustum(GLdouble, GLdouble, GLdouble, GLdouble, GLdouble, GLdouble) {}
void glRotatef(GLfloat, GLfloat, GLfloat, GLfloat) {}
void glTranslatef(GLfloat, GLfloat, GLfloat) {}
void glScalef(GLfloat, GLfloat, GLfloat) {}
void glColor3f(GLfloat, GLfloat, GLfloat) {}
void glColor4f(GLfloat, GLfloat, GLfloat, GLfloat) {}
void glColor3d(GLdouble, GLdouble, GLdouble) {}
void glColor3ub(GLubyte, GLubyte, GLubyte) {}
void glVertex2f(GLfloat, GLfloat) {}
void glVertex2i(GLint, GLint) {}
void glVertex2d(GLdouble, GLdouble) {}
void glVertex3f(GLfloat, GLfloat, GLfloat) {}
void glVertex3d(GLdouble, GLdouble, GLdouble) {}
void glTexCoord2f(GLfloat, GLfloat) {}
void glNormal3f(GLfloat, GLfloat, GLfloat) {}
void glPointSize(GLfloat) {}
void glLineWidth(GLfloat) {}
void glBlendFunc(GLenum, GLenum) {}
void glDepthMask(GLboolean) {}
void glDepthFunc(GLenum) {}
void glShadeModel(GLenum) {}
void glRasterPos2i(GLint, GLint) {}
void glRasterPos2f(GLfloat, GLfloat) {}
void glPixelStorei(GLenum, GLint) {}
void glPixelZoom(GLfloat, GLfloat) {}
void glBindTexture(GLenum, GLuint) {}
void glTexParameteri(GLenum, GLenum, GLint) {}
void gluOrtho2D(GLdouble, GLdouble, GLdouble, GLdouble) {}
void gluPerspective(GLdouble, GLdouble, GLdouble, GLdouble) {}
void glutInitDisplayMode(unsigned) {}
void glutInitWindowPosition(int, int) {}
void glutSetWindowTitle(const char*) {}
void glutReshapeWindow(int, int) {}
void glutDestroyWindow(int) {}
void glutFullScreen() {}
void glutReshapeFunc(void (*)(int, int)) {}
void glutMouseFunc(void (*)(int, int, int, int)) {}
void glutMotionFunc(void (*)(int, int)) {}
void glutPassiveMotionFunc(void (*)(int, int)) {}
void glutSpecialFunc(void (*)(int, int, int)) {}
void glutVisibilityFunc(void (*)(int)) {}
void glutTimerFunc(unsigned, void (*)(int), int) {}
void glutCloseFunc(void (*)()) {}
void glutSetOption(GLenum, int) {}
void glutBitmapCharacter(void*, int) {}
void glutSolidSphere(GLdouble, GLint, GLint) {}

}  // extern "C"
