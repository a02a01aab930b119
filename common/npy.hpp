// Reading and writing NumPy's `.npy` files (numpy.lib.format, versions 1.0 to 3.0) of float64, float32,
// int64, uint32 and bool, and reading those of uint8. Arrays go straight between the file and the caller's
// memory, so an 8 GB file needs 8 GB, or less in pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bfloat16.hpp"
#include "common/file.hpp"

namespace lab {

// A file that is not the `.npy` file it should be. Failures of the file system itself are its base,
// file_error.
class npy_error : public file_error {
 public:
  using file_error::file_error;
};

// The element types that the lab reads and writes, under NumPy's codes.
template <class T>
inline constexpr std::string_view npy_type = "";
template <>
inline constexpr std::string_view npy_type<double> = "<f8";
template <>
inline constexpr std::string_view npy_type<float> = "<f4";
template <>
inline constexpr std::string_view npy_type<std::int64_t> = "<i8";
template <>
inline constexpr std::string_view npy_type<std::uint32_t> = "<u4";
// What ml_dtypes, NumPy's extension, says of bfloat16.
template <>
inline constexpr std::string_view npy_type<bfloat16> = "<V2";
// A bool, which is a byte of 0 or 1. Arrays of uint8 ("|u1") are read, too.
template <>
inline constexpr std::string_view npy_type<unsigned char> = "|b1";

// What a file says of its array, whatever the element type.
struct npy_header {
  std::string type;  // NumPy's code, such as "<f8"; a structured type keeps its whole Python text
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // empty for a scalar
  std::int64_t elements = 0;        // the product of the shape
  std::int64_t data_offset = 0;     // bytes before the first element

  template <class T>
  [[nodiscard]] bool holds() const {
    return type == npy_type<T>;
  }
};

// Reads the header alone. Throws file_error or npy_error when the file is missing or is no `.npy` file.
npy_header read_npy_header(const std::filesystem::path& path);

// Reads an array of T in pieces. The constructor throws file_error or npy_error unless the file holds exactly
// one C-order array of T: header, type and file size are all checked before the first value is read.
template <class T>
class npy_reader {
 public:
  explicit npy_reader(std::filesystem::path path);

  [[nodiscard]] const npy_header& header() const noexcept { return header_; }

  // Fills `values` with the next values of the file; asking for more than are left is a std::logic_error.
  void read(std::span<T> values);

 private:
  std::filesystem::path path_;
  file_descriptor file_;
  npy_header header_;
  std::int64_t remaining_ = 0;
};

// Writes an array of T in pieces, whole or not at all (see output_file).
template <class T>
class npy_writer {
 public:
  // Throws file_error when `path` cannot be written or the disk has no room, and std::invalid_argument for a
  // shape that no array can have.
  npy_writer(const std::filesystem::path& path, std::span<const std::int64_t> shape);

  // Appends `values`; more than the shape holds is a std::logic_error.
  void write(std::span<const T> values);

  // Puts the file in its place. Fewer values than the shape holds is a std::logic_error.
  void commit();

 private:
  npy_writer(const std::filesystem::path& path, const std::string& header, std::int64_t elements);

  output_file file_;
  std::int64_t remaining_ = 0;
};

template <class T>
struct npy_array {
  std::vector<std::int64_t> shape;
  std::vector<T> values;  // C order: the last index is the fastest
};

template <class T>
npy_array<T> read_npy(const std::filesystem::path& path);

template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape);

}  // namespace lab
