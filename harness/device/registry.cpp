#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "common/file.hpp"
#include "harness/device/across_processes.hpp"
#include "harness/device/track.hpp"

namespace lab {
namespace {

// Function-local statics, because stages register while other files' statics are not yet constructed.
std::map<std::string, stage_entry>& stages() {
  static std::map<std::string, stage_entry> all;
  return all;
}
std::map<std::string, std::unique_ptr<track>>& tracks() {
  static std::map<std::string, std::unique_ptr<track>> all;
  return all;
}
std::set<std::string>& stages_across_processes() {
  static std::set<std::string> all;
  return all;
}
// What went wrong before main, where nothing can catch it.
std::string& registration_error() {
  static std::string text;
  return text;
}

}  // namespace

void require_files(const application& to, std::int64_t inputs) {
  if (std::ssize(to.inputs) != inputs) {
    throw usage_error("this track takes " +
                      (inputs == 1 ? "one input file" : std::to_string(inputs) + " input files") + ", not " +
                      std::to_string(to.inputs.size()));
  }
  if (to.outputs.size() != 1)
    throw usage_error("this track writes one output file, not " + std::to_string(to.outputs.size()));
  require_writable(to.outputs[0]);
}

void register_stage(stage_entry entry) {
  const std::string path = entry.path;
  if (!stages().emplace(path, std::move(entry)).second)
    registration_error() = "two stages call themselves " + path;
}

void register_track(std::string name, std::unique_ptr<track> added) {
  if (!tracks().emplace(name, std::move(added)).second)
    registration_error() = "two tracks call themselves " + name;
}

across_processes::across_processes(std::string stage_path) {
  stages_across_processes().insert(std::move(stage_path));
}

bool runs_across_processes(const std::string& stage_path) {
  return stages_across_processes().contains(stage_path);
}

const track& find_track(const std::string& name) {
  const auto found = tracks().find(name);
  if (found == tracks().end()) throw usage_error("no track is called " + name);
  return *found->second;
}

const stage_entry& find_stage(const std::string& path) {
  const auto found = stages().find(path);
  if (found == stages().end()) throw usage_error("no stage is called " + path);
  return found->second;
}

const track& track_of(const stage_entry& stage) {
  return find_track(stage.track);
}

std::vector<std::string> track_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : tracks()) names.push_back(name);
  return names;
}

std::vector<const stage_entry*> stages_of(const std::string& track) {
  std::vector<const stage_entry*> found;
  for (const auto& [path, entry] : stages()) {
    if (entry.track == track) found.push_back(&entry);
  }
  return found;
}

std::size_t stage_count() {
  return stages().size();
}

void check_registry() {
  if (!registration_error().empty()) throw std::logic_error(registration_error());
  for (const std::string& path : stages_across_processes()) {
    if (!stages().contains(path)) throw std::logic_error(path + " runs across processes, and is no stage");
  }
  for (const auto& [path, entry] : stages()) {
    if (!tracks().contains(entry.track)) throw std::logic_error(path + " belongs to no track");
    if (emulated && entry.has_launch == entry.traits.gpu_only) {
      throw std::logic_error(path + (entry.has_launch
                                         ? ": gpu_only, and yet compiled for the emulator"
                                         : ": not gpu_only, and yet not compiled for the emulator"));
    }
    if (!emulated && !entry.has_launch) throw std::logic_error(path + " has no launch function");
  }
}

}  // namespace lab
