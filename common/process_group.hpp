// The processes that make one group of GPUs together, one GPU each: this one alone, unless a launcher of
// MPI's has started several (docs/several-gpus.md). All of them run the same program on the same request, and
// make the calls below in the same order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {

// How this process reaches the others.
class process_link {
 public:
  process_link() = default;
  process_link(const process_link&) = delete;
  process_link& operator=(const process_link&) = delete;
  virtual ~process_link() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // The rank among the processes of this host.
  [[nodiscard]] virtual int local_rank() const = 0;
  [[nodiscard]] virtual std::string host() const = 0;
  // What each process gives, in the order of the ranks; nobody has it before all have given.
  virtual std::vector<std::string> gather(const std::string& own) = 0;
  // What a stage of the emulator's was sent and never received, in words; empty where there is nothing.
  virtual std::string left_over() { return ""; }
  // Whether all processes come here within `patience`. They do so once, at their end.
  virtual bool all_come(std::chrono::milliseconds patience) = 0;
  // Ends all processes at once, wherever they are.
  [[noreturn]] virtual void abort() = 0;
  // Before a process ends that all have come to the end with.
  virtual void finish() = 0;
};

// Joins what the launcher has started. Null where this program was built without MPI.
extern process_link& (*join_processes)();

namespace processes {

// The link of this process from here on.
void join(process_link& link);

int rank();
int count();
int local_rank();
std::string host();
inline bool are_several() {
  return count() > 1;
}
// "rank 1 of 2"; empty for a process alone.
std::string name();

std::vector<std::string> gather(const std::string& own);
// Nobody returns before all have come.
void meet();
std::string left_over();

template <class T>
std::vector<T> gather_values(const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!are_several()) return {own};
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &own, sizeof(T));
  std::vector<T> values;
  for (const std::string& text : gather(bytes)) {
    values.emplace_back();
    std::memcpy(&values.back(), text.data(), sizeof(T));
  }
  return values;
}

// What all go by: the largest of their values, the smallest, and that of rank 0.
template <class T>
T largest(const T& own) {
  const std::vector<T> all = gather_values(own);
  return *std::max_element(all.begin(), all.end());
}
template <class T>
T smallest(const T& own) {
  const std::vector<T> all = gather_values(own);
  return *std::min_element(all.begin(), all.end());
}
template <class T>
T of_rank_0(const T& own) {
  return gather_values(own).front();
}

// The devices that this process sees, in the order of a group's (gpu_group.hpp).
std::vector<int> own_devices();

}  // namespace processes
}  // namespace lab
