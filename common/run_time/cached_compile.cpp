#include "common/run_time/cached_compile.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace lab::run_time {
namespace {

using nlohmann::json;

const char* name_of(target kind) {
  return kind == target::cubin ? "cubin" : kind == target::ptx ? "ptx" : "lto_ir";
}

std::string packed(const compiled& result) {
  const json fields = {{"log", result.log},
                       {"lowered_names", result.lowered_names},
                       {"compiler", {result.compiler.major, result.compiler.minor}},
                       {"image", json::binary({result.image.begin(), result.image.end()})}};
  std::string bytes;
  json::to_cbor(fields, bytes);
  return bytes;
}

// The cache has checked that these are the bytes of packed().
compiled unpacked(const std::string& bytes) {
  const json fields = json::from_cbor(bytes);
  compiled result;
  const std::vector<std::uint8_t>& image = fields.at("image").get_binary();
  result.image.assign(image.begin(), image.end());
  result.log = fields.at("log");
  result.lowered_names = fields.at("lowered_names").get<std::vector<std::string>>();
  result.compiler = {fields.at("compiler").at(0), fields.at("compiler").at(1)};
  return result;
}

}  // namespace

cache_key key_of(const compile_request& request, const library_search& search) {
  cache_key key;
  key.add("made by", "compile 1");
  key.add("nvrtc", identity_of(library::nvrtc, search));
  key.add("file name", request.file_name);
  // Target and architecture are among the options.
  for (const std::string& option : all_options(request)) key.add("option", option);
  for (const std::string& name : request.name_expressions) key.add("name expression", name);
  key.add("source", request.source);
  return key;
}

cache_key key_of(std::span<const link_input> inputs, int architecture,
                 const std::vector<std::string>& options, const library_search& search) {
  cache_key key;
  key.add("made by", "link 1");
  key.add("nvjitlink", identity_of(library::nvjitlink, search));
  key.add("architecture", std::to_string(architecture));
  for (const std::string& option : options) key.add("option", option);
  for (const link_input& input : inputs) {
    key.add("kind", name_of(input.kind));
    key.add("name", input.name);
    key.add("input", input.bytes);
  }
  return key;
}

cached_compiled compile_cached(const compile_request& request, image_cache& cache,
                               const library_search& search) {
  std::optional<compiled> made;
  cached_image found = cache.cached(key_of(request, search), [&] {
    made = compile(request, search);
    return packed(*made);
  });
  cached_compiled answer;
  answer.result = made ? std::move(*made) : unpacked(found.image);
  answer.from = found.from;
  answer.seconds = found.seconds;
  answer.warning = std::move(found.warning);
  return answer;
}

}  // namespace lab::run_time
