#include "harness/device/array_track.hpp"
#include "tests/tracks/matrix_product/problem.hpp"

namespace lab::matrix_product {

parameter_values problem::parameters_of_files(const std::vector<npy_header>& headers,
                                              const std::vector<std::string>& paths) {
  const auto [rows, depth] = extents<2>(headers[0], paths[0]);
  return {{"rows", rows}, {"depth", depth}, {"columns", extents<2>(headers[1], paths[1])[1]}};
}

std::vector<verification_case<problem::parameters>> problem::cases(std::int64_t /*tile*/, bool thorough,
                                                                   std::uint64_t /*seed*/) {
  std::vector<verification_case<parameters>> list = {{{33, 17, 5}, pattern::signed_random}};
  if (!thorough) return list;
  for (const pattern kind : {pattern::small_integers, pattern::nonfinite, pattern::zeros})
    list.push_back({{20, 40, 30}, kind});
  for (const std::int64_t rows : {0, 1, 15, 16, 17}) {
    for (const std::int64_t columns : {0, 1, 31, 32, 33}) {
      for (const std::int64_t depth : {0, 1, 7, 16, 17})
        list.push_back({{rows, columns, depth}, pattern::small_integers, true});
    }
  }
  return list;
}

const array_track_registration<problem> registered{LAB_PATH};

}  // namespace lab::matrix_product
