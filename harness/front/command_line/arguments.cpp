#include "harness/front/command_line/arguments.hpp"

#include "harness/front/process/errors.hpp"

namespace lab::front {

void refuse_empty_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto refuse = [](const std::string& option) {
    throw usage_error(option + " needs a value, and the one given is empty");
  };
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) continue;
    if (argument.back() == '=') refuse(argument.substr(0, argument.size() - 1));
    const CLI::Option* option = app.get_option_no_throw(argument);
    if (option == nullptr) {
      // A parameter of a track, whose value follows as it does after an option.
      if (argument.find('=') == std::string::npos && i + 1 < arguments.size() && arguments[i + 1].empty())
        refuse(argument);
    } else if (option->get_items_expected_max() > 0 && i + 1 < arguments.size()) {
      if (arguments[++i].empty()) refuse(argument);
    }
  }
}

std::vector<parameter_argument> take_parameters(const CLI::App& app, std::vector<std::string>& arguments) {
  std::vector<parameter_argument> parameters;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      others.insert(others.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (argument.size() < 3 || argument.rfind("--", 0) != 0) {
      others.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const bool has_next = i + 1 < arguments.size();
    if (const CLI::Option* option = app.get_option_no_throw(name)) {
      others.push_back(argument);
      const bool takes_value = option->get_items_expected_max() > 0;
      if (takes_value && equals == std::string::npos && has_next) others.push_back(arguments[++i]);
    } else if (equals != std::string::npos) {
      parameters.push_back({name.substr(2), argument.substr(equals + 1)});
    } else if (has_next && arguments[i + 1].rfind("--", 0) != 0) {
      parameters.push_back({name.substr(2), arguments[++i]});
    } else {
      parameters.push_back({name.substr(2), ""});
    }
  }
  arguments = std::move(others);
  return parameters;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace lab::front
