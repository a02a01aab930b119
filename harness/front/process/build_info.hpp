// Which build of which commit this program is.
#pragma once

#include <string>

namespace lab::front {

struct build_info {
  std::string version;
  std::string commit;  // "unknown" outside a git working tree
  bool dirty = false;  // built from files that differ from the commit
  std::string compiler;
  std::string flags;
};

[[nodiscard]] const build_info& this_build();

}  // namespace lab::front
