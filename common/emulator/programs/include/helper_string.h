// Options of a command line, as NVIDIA's samples read them: -name, --name, -name=value.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, length, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf
#endif

namespace lab_samples {

// What stands behind "name=" (after any dashes), an empty string for the bare name, null if it is not there.
inline const char* option(int count, const char** words, const char* name) {
  const std::size_t length = std::strlen(name);
  for (int at = 1; at < count; ++at) {
    const char* word = words[at];
    while (*word == '-') ++word;
    if (strncasecmp(word, name, length) != 0) continue;
    if (word[length] == '\0') return word + length;
    if (word[length] == '=') return word + length + 1;
  }
  return nullptr;
}

}  // namespace lab_samples

inline int stringRemoveDelimiter(char delimiter, const char* text) {
  int at = 0;
  while (text[at] == delimiter) ++at;
  return at >= static_cast<int>(std::strlen(text)) - 1 ? 0 : at;
}
inline bool checkCmdLineFlag(const int count, const char** words, const char* name) {
  return lab_samples::option(count, words, name) != nullptr;
}
template <class T>
bool getCmdLineArgumentValue(const int count, const char** words, const char* name, T* value) {
  const char* const text = lab_samples::option(count, words, name);
  if (text != nullptr) *value = static_cast<T>(std::atoi(text));
  return text != nullptr;
}
inline int getCmdLineArgumentInt(const int count, const char** words, const char* name) {
  const char* const text = lab_samples::option(count, words, name);
  return text != nullptr ? std::atoi(text) : 0;
}
inline float getCmdLineArgumentFloat(const int count, const char** words, const char* name) {
  const char* const text = lab_samples::option(count, words, name);
  return text != nullptr ? static_cast<float>(std::atof(text)) : 0.0f;
}
inline bool getCmdLineArgumentString(const int count, const char** words, const char* name, char** value) {
  const char* const text = lab_samples::option(count, words, name);
  *value = const_cast<char*>(text);
  return text != nullptr;
}
// The file itself, or the one of that name in ./data; null if there is none. The caller frees it.
inline char* sdkFindFilePath(const char* name, const char* program) {
  std::string beside = program != nullptr ? program : "";
  beside.resize(beside.find_last_of('/') == std::string::npos ? 0 : beside.find_last_of('/') + 1);
  for (const std::string& place :
       {std::string(), std::string("./data/"), beside, beside + "data/", std::string("../data/")}) {
    const std::string path = place + name;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) continue;
    std::fclose(file);
    return strdup(path.c_str());
  }
  return nullptr;
}
