// Reading and writing NumPy's `.npy` files (numpy.lib.format, versions 1.0 to 3.0) of float64, float32,
// int64, uint32 and bool, and reading those of uint8. Arrays go straight between the file and the caller's
// memory, so an 8 GB file needs 8 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
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

// The file of an array of `type` (npy_type). The constructor throws file_error or npy_error unless it holds
// exactly one C-order array of these: header, type and file size are all checked before a value is read.
class npy_reader {
 public:
  npy_reader(std::filesystem::path path, std::string_view type, std::size_t element_bytes);

  [[nodiscard]] const npy_header& header() const noexcept { return header_; }

  // All values, for which `values` has room.
  void read(std::span<std::byte> values) const;

 private:
  std::filesystem::path path_;
  file_descriptor file_;
  npy_header header_;
};

template <class T>
struct npy_array {
  std::vector<std::int64_t> shape;
  std::vector<T> values;  // C order: the last index is the fastest
};

template <class T>
npy_array<T> read_npy(const std::filesystem::path& path) {
  const npy_reader reader(path, npy_type<T>, sizeof(T));
  npy_array<T> array{reader.header().shape, {}};
  try {
    array.values.resize(static_cast<std::size_t>(reader.header().elements));
  } catch (const std::bad_alloc&) {
    const auto bytes = reader.header().elements * static_cast<std::int64_t>(sizeof(T));
    throw npy_error(path, "needs " + std::to_string(bytes) + " bytes of memory, which are not free");
  }
  reader.read(std::as_writable_bytes(std::span(array.values)));
  return array;
}

// Writes an array of `type`, whole or not at all (see output_file). Throws file_error when `path` cannot be
// written or the disk has no room, std::invalid_argument for a shape that no array can have, and
// std::logic_error for values that do not fill it.
void write_npy(const std::filesystem::path& path, std::string_view type, std::size_t element_bytes,
               std::span<const std::byte> values, std::span<const std::int64_t> shape);

template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape) {
  write_npy(path, npy_type<T>, sizeof(T), std::as_bytes(values), shape);
}

}  // namespace lab
