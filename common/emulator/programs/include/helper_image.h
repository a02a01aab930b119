// Images of NVIDIA's samples: PGM and PPM files, and comparisons of arrays.
#pragma once

#include <helper_string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace lab_samples {

// A binary PGM (one channel) or PPM (three).
inline bool load_image(const char* path, std::vector<unsigned char>& bytes, unsigned* width, unsigned* height,
                       unsigned* channels) {
  std::ifstream file(path, std::ios::binary);
  std::string kind;
  unsigned most = 0;
  const auto next = [&file](unsigned& number) {
    while (file >> std::ws && file.peek() == '#') file.ignore(1 << 20, '\n');
    return static_cast<bool>(file >> number);
  };
  if (!(file >> kind) || (kind != "P5" && kind != "P6") || !next(*width) || !next(*height) || !next(most) ||
      most > 255 || *width > 1u << 16 || *height > 1u << 16)
    return false;
  file.ignore(1);
  *channels = kind == "P5" ? 1 : 3;
  bytes.resize(std::size_t{*width} * *height * *channels);
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())));
}
inline bool save_image(const char* path, const unsigned char* bytes, unsigned width, unsigned height,
                       unsigned channels) {
  std::ofstream file(path, std::ios::binary);
  file << (channels == 1 ? "P5" : "P6") << "\n" << width << "\n" << height << "\n255\n";
  file.write(reinterpret_cast<const char*>(bytes),
             static_cast<std::streamsize>(std::size_t{width} * height * channels));
  return static_cast<bool>(file);
}

}  // namespace lab_samples

template <class T>
bool sdkLoadPGM(const char* path, T** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> bytes;
  unsigned channels = 0;
  if (!lab_samples::load_image(path, bytes, width, height, &channels) || channels != 1) return false;
  if (*data == nullptr) *data = static_cast<T*>(std::malloc(bytes.size() * sizeof(T)));
  for (std::size_t at = 0; at < bytes.size(); ++at)
    (*data)[at] = sizeof(T) == 1 ? static_cast<T>(bytes[at]) : static_cast<T>(bytes[at] / 255.0f);
  return true;
}
template <class T>
bool sdkSavePGM(const char* path, T* data, unsigned width, unsigned height) {
  std::vector<unsigned char> bytes(std::size_t{width} * height);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<unsigned char>(sizeof(T) == 1 ? data[at] : data[at] * 255.0f);
  return lab_samples::save_image(path, bytes.data(), width, height, 1);
}
// As the file has them.
inline bool __loadPPM(const char* path, unsigned char** data, unsigned* width, unsigned* height,
                      unsigned* channels) {
  std::vector<unsigned char> bytes;
  if (!lab_samples::load_image(path, bytes, width, height, channels)) return false;
  if (*data == nullptr) *data = static_cast<unsigned char*>(std::malloc(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), *data);
  return true;
}
inline bool __savePPM(const char* path, unsigned char* data, unsigned width, unsigned height,
                      unsigned channels) {
  return lab_samples::save_image(path, data, width, height, channels);
}
inline bool sdkLoadPPMub(const char* path, unsigned char** data, unsigned* width, unsigned* height) {
  unsigned channels = 0;
  return __loadPPM(path, data, width, height, &channels);
}
// Three channels in the file, four in memory.
inline bool sdkLoadPPM4ub(const char* path, unsigned char** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> bytes;
  unsigned channels = 0;
  if (!lab_samples::load_image(path, bytes, width, height, &channels) || channels != 3) return false;
  const std::size_t pixels = std::size_t{*width} * *height;
  *data = static_cast<unsigned char*>(std::malloc(pixels * 4));
  for (std::size_t at = 0; at < pixels; ++at) {
    for (int channel = 0; channel < 3; ++channel) (*data)[4 * at + channel] = bytes[3 * at + channel];
    (*data)[4 * at + 3] = 0;
  }
  return true;
}
inline bool sdkSavePPM4ub(const char* path, unsigned char* data, unsigned width, unsigned height) {
  const std::size_t pixels = std::size_t{width} * height;
  std::vector<unsigned char> bytes(pixels * 3);
  for (std::size_t at = 0; at < pixels; ++at)
    for (int channel = 0; channel < 3; ++channel) bytes[3 * at + channel] = data[4 * at + channel];
  return lab_samples::save_image(path, bytes.data(), width, height, 3);
}
// Numbers as text, with spaces between.
template <class T>
bool sdkReadFile(const char* path, T** data, unsigned* length, bool) {
  if (path == nullptr) return false;
  std::ifstream file(path);
  std::vector<T> values;
  for (T value; file >> value;) values.push_back(value);
  if (values.empty() || (*data != nullptr && *length != values.size())) return false;
  if (*data == nullptr) *data = static_cast<T*>(std::malloc(values.size() * sizeof(T)));
  std::copy(values.begin(), values.end(), *data);
  *length = static_cast<unsigned>(values.size());
  return true;
}
template <class T, class S>
bool sdkWriteFile(const char* path, const T* data, unsigned length, const S epsilon, bool,
                  bool append = false) {
  std::ofstream file(path, append ? std::ios::app : std::ios::trunc);
  file << "# " << epsilon << "\n";
  for (unsigned at = 0; at < length; ++at) file << data[at] << ' ';
  file << "\n";
  return static_cast<bool>(file);
}
inline void sdkDumpBin(void* data, unsigned bytes, const char* path) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), bytes);
}
template <class T, class S>
bool compareData(const T* reference, const T* data, const unsigned length, const S epsilon,
                 const float threshold) {
  unsigned errors = 0;
  for (unsigned at = 0; at < length; ++at) {
    const double difference = static_cast<double>(reference[at]) - static_cast<double>(data[at]);
    if (!(std::fabs(difference) <= static_cast<double>(epsilon))) ++errors;
  }
  return threshold == 0.0f ? errors == 0
                           : static_cast<float>(errors) <= threshold * static_cast<float>(length);
}
inline bool sdkCompareL2fe(const float* reference, const float* data, const unsigned length,
                           const float epsilon) {
  double error = 0, whole = 0;
  for (unsigned at = 0; at < length; ++at) {
    const double difference = static_cast<double>(reference[at]) - static_cast<double>(data[at]);
    error += difference * difference;
    whole += static_cast<double>(reference[at]) * static_cast<double>(reference[at]);
  }
  return whole > 1e-7 && std::sqrt(error / whole) < static_cast<double>(epsilon);
}

namespace lab_samples {

// Whether no more than a share of the elements of two files differ by more than epsilon.
template <class T>
bool files_agree(const char* source, const char* reference, std::size_t elements, double epsilon,
                 double threshold, const char* folder) {
  const auto read = [elements, folder](const char* path) {
    const char* const found = sdkFindFilePath(path, folder);
    std::vector<T> values(elements);
    std::ifstream file(found == nullptr ? path : found, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()),
                   static_cast<std::streamsize>(elements * sizeof(T))))
      values.clear();
    return values;
  };
  const std::vector<T> found = read(source), wanted = read(reference);
  if (found.empty() || wanted.empty()) return false;
  std::size_t errors = 0;
  for (std::size_t at = 0; at < elements; ++at)
    errors += !(std::fabs(static_cast<double>(found[at]) - static_cast<double>(wanted[at])) <= epsilon);
  return static_cast<double>(errors) <= threshold * static_cast<double>(elements);
}

inline bool images_agree(const char* source, const char* reference, double epsilon, double threshold) {
  std::vector<unsigned char> found, wanted;
  unsigned size[2][3] = {};
  if (!load_image(source, found, &size[0][0], &size[0][1], &size[0][2]) ||
      !load_image(reference, wanted, &size[1][0], &size[1][1], &size[1][2]) ||
      !std::equal(size[0], size[0] + 3, size[1]))
    return false;
  std::size_t errors = 0;
  for (std::size_t at = 0; at < found.size(); ++at) errors += std::abs(found[at] - wanted[at]) > epsilon;
  return static_cast<double>(errors) <= threshold * static_cast<double>(found.size());
}

}  // namespace lab_samples

inline bool sdkCompareBin2BinUint(const char* source, const char* reference, unsigned elements,
                                  const float epsilon, const float threshold, char* folder) {
  return lab_samples::files_agree<unsigned>(source, reference, elements, epsilon, threshold, folder);
}
inline bool sdkCompareBin2BinFloat(const char* source, const char* reference, unsigned elements,
                                   const float epsilon, const float threshold, char* folder) {
  return lab_samples::files_agree<float>(source, reference, elements, epsilon, threshold, folder);
}
inline bool sdkComparePPM(const char* source, const char* reference, const float epsilon,
                          const float threshold, bool = false) {
  return lab_samples::images_agree(source, reference, epsilon, threshold);
}
inline bool sdkComparePGM(const char* source, const char* reference, const float epsilon,
                          const float threshold, bool = false) {
  return lab_samples::images_agree(source, reference, epsilon, threshold);
}
