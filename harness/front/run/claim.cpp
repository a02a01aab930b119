#include "harness/front/run/claim.hpp"

#include "harness/protocol.hpp"

namespace lab::front {

bool is_about_time(const std::string& metric) {
  return metric == speed_up_metric || metric == speed_up_over_first_metric ||
         metric == speed_up_over_library_metric || metric == speed_of_light_metric;
}

void to_json(nlohmann::json& json, const claim& claim) {
  json = {{"metric", claim.metric},
          {"per", text_or_null(claim.per)},
          {"over_previous", claim.over_previous},
          {"holds", relation_names[static_cast<int>(claim.holds)]},
          {"value", claim.value},
          {"at", claim.at},
          {"device", text_or_null(claim.device)},
          {"compute_capability", text_or_null(claim.compute_capability)},
          {"because", text_or_null(claim.because)}};
}

}  // namespace lab::front
