#include "harness/front/compare/comparison.hpp"

#include <cstdio>

#include "common/file.hpp"
#include "common/utf8.hpp"
#include "harness/front/compare/recorded_run.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {

int compare_results(const compare_options& options) {
  if (is_same_file(options.older, options.newer))
    throw usage_error("OLD and NEW are one file or folder: " + escaped(options.older));
  refuse_shared_files({{"OLD", options.older}, {"NEW", options.newer}}, {{"--json", options.json_path}});
  check_files({}, {{"--json", options.json_path}});
  const comparison compared =
      compare_sides(read_side(options.older), read_side(options.newer), options.threshold);
  if (!options.json_path.empty()) write_file(options.json_path, json_text(compared));
  const std::string text = options.markdown ? comparison_markdown(compared) : comparison_text(compared);
  std::fputs(text.c_str(), stdout);
  return has_regression(compared) ? exit_stage_failed : exit_ok;
}

}  // namespace lab::front
