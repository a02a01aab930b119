#include "harness/device/references.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace lab::references {
namespace {

using texts = std::map<std::string, std::string>;

struct store {
  std::mutex access;
  texts received;
  texts own;
  std::set<std::string> used;  // of those received
};

store& the_store() {
  static store one;
  return one;
}

}  // namespace

std::string kept(const std::string& key, const std::function<std::string()>& work_out) {
  store& all = the_store();
  {
    const std::lock_guard lock(all.access);
    if (const auto found = all.received.find(key); found != all.received.end()) {
      all.used.insert(key);
      return found->second;
    }
    if (const auto found = all.own.find(key); found != all.own.end()) return found->second;
  }
  // Unlocked: what is worked out may ask for other references, on other threads.
  std::string text = work_out();
  const std::lock_guard lock(all.access);
  return all.own.emplace(key, std::move(text)).first->second;
}

void receive(texts worked_out) {
  store& all = the_store();
  const std::lock_guard lock(all.access);
  all.received = std::move(worked_out);
  all.used.clear();
}

void forget_use() {
  store& all = the_store();
  const std::lock_guard lock(all.access);
  all.used.clear();
}

bool distrust_received() {
  store& all = the_store();
  const std::lock_guard lock(all.access);
  const bool any = !all.used.empty();
  for (const std::string& key : all.used) all.received.erase(key);
  all.used.clear();
  return any;
}

texts worked_out_here() {
  store& all = the_store();
  const std::lock_guard lock(all.access);
  return all.own;
}

}  // namespace lab::references
