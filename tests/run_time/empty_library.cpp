// A library that has none of NVRTC's functions.
extern "C" int lab_empty_library() {
  return 0;
}
