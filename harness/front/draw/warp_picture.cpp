#include "harness/front/draw/warp_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/front/draw/svg.hpp"
#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

constexpr int lanes = 32, banks = 32, sector_bytes = 32, bank_bytes = 4;

// In pixels: 32 boxes of lanes, banks or sectors fill the picture's width.
constexpr double box_width = 28, boxes_width = lanes * box_width;
constexpr double lanes_top = 110, lane_height = 22, wires_bottom = 226;

// A lane's first byte, counted from a multiple of 128 bytes at or before the array's beginning.
std::int64_t address_of(const request_record& request, std::size_t k) {
  return request.array.begin + request.offsets[k];
}

void check_shape(const request_record& request) {
  const bool in_order = std::is_sorted(request.lanes.begin(), request.lanes.end());
  const bool fits = !request.lanes.empty() && request.lanes.size() == request.offsets.size() &&
                    request.lanes.size() <= lanes && request.lanes.front() >= 0 &&
                    request.lanes.back() < lanes && request.bytes >= 1 && request.bytes <= 16 &&
                    request.parts >= 1 && request.parts <= 4;
  if (!in_order || !fits) throw std::invalid_argument("an access is not one of a warp");
}

void check_units(const request_record& request, std::int64_t drawn, const char* noun) {
  if (drawn == request.units) return;
  throw std::invalid_argument(
      fmt::format("an access of {} {}s was counted, and its addresses make {}", request.units, noun, drawn));
}

double lane_middle(std::int64_t lane) {
  return picture_left + (static_cast<double>(lane) + 0.5) * box_width;
}

void draw_heading(svg& to, const picture_heading& heading, const accesses_record& accesses,
                  const request_record& request) {
  to.headline(30, picture_left + boxes_width, heading.title, heading.parameters);
  to.text(picture_left, 52, fmt::format("{}: {}", request.at.line, shortened(request.at.text, 108)),
          ink::code);
  to.text(picture_left, 74, request_text(accesses, request), ink::note);
}

void draw_lanes(svg& to, const request_record& request) {
  to.text(picture_left, lanes_top - 8, fmt::format("lanes of warp {}", request.warp), ink::small);
  for (int lane = 0; lane < lanes; ++lane) {
    const bool takes_part = std::binary_search(request.lanes.begin(), request.lanes.end(), lane);
    to.rect(picture_left + lane * box_width + 1, lanes_top, box_width - 2, lane_height,
            takes_part ? paint::lane : paint::idle, 3);
    to.text(lane_middle(lane), lanes_top + 15, std::to_string(lane), ink::cell, anchor::middle);
  }
}

// ---- global memory

using sector_set = std::map<std::int64_t, std::vector<bool>>;  // which bytes of each sector are asked for

sector_set sectors_of(const request_record& request) {
  sector_set sectors;
  for (std::size_t k = 0; k < request.lanes.size(); ++k) {
    for (std::int64_t byte = address_of(request, k); byte < address_of(request, k) + request.bytes; ++byte) {
      const std::int64_t sector = (byte >= 0 ? byte : byte - sector_bytes + 1) / sector_bytes;
      auto [entry, is_new] = sectors.try_emplace(sector, sector_bytes, false);
      entry->second[static_cast<std::size_t>(byte - sector * sector_bytes)] = true;
    }
  }
  return sectors;
}

// Where each sector stands: sectors that follow each other in memory touch.
struct sector_layout {
  std::map<std::int64_t, double> x;
  double width;
};

sector_layout lay_out(const sector_set& sectors) {
  std::size_t gaps = 0;
  for (auto next = std::next(sectors.begin()); next != sectors.end(); ++next)
    gaps += std::prev(next)->first + 1 != next->first;
  const double gap = sectors.size() > 1 ? std::min(12.0, 160.0 / static_cast<double>(sectors.size())) : 0;
  sector_layout layout;
  // At most as wide as the 8 lanes that ask for 4 bytes each.
  layout.width = std::min(
      8 * box_width, (boxes_width - gap * static_cast<double>(gaps)) / static_cast<double>(sectors.size()));
  const double all = layout.width * static_cast<double>(sectors.size()) + gap * static_cast<double>(gaps);
  double x = picture_left + (boxes_width - all) / 2;
  for (auto at = sectors.begin(); at != sectors.end(); ++at) {
    if (at != sectors.begin() && std::prev(at)->first + 1 != at->first) x += gap;
    layout.x[at->first] = x;
    x += layout.width;
  }
  return layout;
}

constexpr double sector_height = 34;

void draw_sectors(svg& to, const sector_set& sectors, const sector_layout& layout) {
  const double byte_width = layout.width / sector_bytes;
  for (const auto& [sector, asked] : sectors) {
    const double x = layout.x.at(sector);
    for (int begin = 0; begin < sector_bytes;) {
      int end = begin + 1;
      while (end < sector_bytes &&
             asked[static_cast<std::size_t>(end)] == asked[static_cast<std::size_t>(begin)])
        ++end;
      to.rect(x + begin * byte_width, wires_bottom, (end - begin) * byte_width, sector_height,
              asked[static_cast<std::size_t>(begin)] ? paint::used : paint::vain);
      begin = end;
    }
    to.rect(x, wires_bottom, layout.width, sector_height, paint::frame);
  }
}

// How far each run of sectors is from the first, where there is room.
void draw_distances(svg& to, const sector_set& sectors, const sector_layout& layout) {
  const double y = wires_bottom + sector_height + 14;
  double free_from = 0;
  const std::int64_t first = sectors.begin()->first;
  for (auto at = sectors.begin(); at != sectors.end(); ++at) {
    const bool begins = at == sectors.begin() || std::prev(at)->first + 1 != at->first;
    const double x = layout.x.at(at->first);
    if (!begins && layout.width < 60) continue;
    const std::string words = fmt::format("+{}", (at->first - first) * sector_bytes);
    if (x < free_from) continue;
    // Near the edge it is moved as text() would.
    const double width = 6.6 * static_cast<double>(words.size());
    const double moved = std::min(x, picture_width - 8 - width);
    if (moved < free_from) continue;
    to.text(moved, y, words, ink::small);
    free_from = moved + 8 + width;
  }
}

std::int64_t used_bytes(const sector_set& sectors) {
  std::int64_t used = 0;
  for (const auto& [sector, asked] : sectors) used += std::count(asked.begin(), asked.end(), true);
  return used;
}

// Returns the picture's height.
double draw_global(svg& to, const request_record& request) {
  const sector_set sectors = sectors_of(request);
  check_units(request, static_cast<std::int64_t>(sectors.size()), "sector");
  const sector_layout layout = lay_out(sectors);
  for (std::size_t k = 0; k < request.lanes.size(); ++k) {
    const std::int64_t byte = address_of(request, k);
    const std::int64_t sector = (byte >= 0 ? byte : byte - sector_bytes + 1) / sector_bytes;
    const double middle =
        static_cast<double>(byte - sector * sector_bytes) + static_cast<double>(request.bytes) / 2;
    to.wire(lane_middle(request.lanes[k]), lanes_top + lane_height,
            layout.x.at(sector) + std::min<double>(middle, sector_bytes) * layout.width / sector_bytes,
            wires_bottom);
  }
  draw_sectors(to, sectors, layout);
  draw_distances(to, sectors, layout);
  double y = wires_bottom + sector_height + 34;
  const std::int64_t first = sectors.begin()->first * sector_bytes - request.array.begin;
  to.text(
      picture_left, y,
      fmt::format("sectors of 32 bytes in global memory; the first begins at byte {} of an array of {} bytes",
                  first, request.array.bytes),
      ink::small);
  y += 24;
  to.text(picture_left, y, cost_text(request), request.units > request.least ? ink::warning : ink::note);
  y += 24;
  std::vector<std::pair<paint, std::string>> legend{{paint::used, "asked for"}};
  if (used_bytes(sectors) < request.units * sector_bytes) legend.push_back({paint::vain, "moved in vain"});
  to.legend(picture_left, y, legend);
  return y + 16;
}

// ---- shared memory

// What a bank gives in one wavefront, and the lanes that take it.
struct bank_word {
  std::int64_t word;
  std::vector<std::int64_t> lanes;
};
// Of each part of the warp, by bank: different words are given one after the other.
using bank_words = std::vector<std::vector<bank_word>>;

std::int64_t part_of(const request_record& request, std::int64_t lane) {
  return lane / (lanes / request.parts);
}

std::vector<bank_words> words_of(const request_record& request) {
  std::vector<bank_words> parts(static_cast<std::size_t>(request.parts), bank_words(banks));
  for (std::size_t k = 0; k < request.lanes.size(); ++k) {
    bank_words& part = parts[static_cast<std::size_t>(part_of(request, request.lanes[k]))];
    const std::int64_t begin = address_of(request, k);
    for (std::int64_t word = begin / bank_bytes; word <= (begin + request.bytes - 1) / bank_bytes; ++word) {
      std::vector<bank_word>& bank = part[static_cast<std::size_t>(word % banks)];
      auto found =
          std::find_if(bank.begin(), bank.end(), [&](const bank_word& one) { return one.word == word; });
      if (found == bank.end()) found = bank.insert(bank.end(), {word, {}});
      found->lanes.push_back(request.lanes[k]);
    }
  }
  return parts;
}

std::size_t wavefronts_of(const bank_words& part) {
  std::size_t most = 0;
  for (const auto& bank : part) most = std::max(most, bank.size());
  return most;
}

// "7", or "0+3" for lane 0 and three others.
std::string takers(const std::vector<std::int64_t>& of) {
  return of.size() == 1 ? std::to_string(of.front()) : fmt::format("{}+{}", of.front(), of.size() - 1);
}

constexpr double bank_height = 18, row_height = 15;

// Returns the picture's height.
double draw_shared(svg& to, const request_record& request) {
  const std::vector<bank_words> parts = words_of(request);
  std::size_t wavefronts = 0;
  for (const bank_words& part : parts) wavefronts += wavefronts_of(part);
  check_units(request, static_cast<std::int64_t>(wavefronts), "wavefront");
  std::set<std::pair<std::int64_t, std::int64_t>> wired;
  for (std::size_t k = 0; k < request.lanes.size(); ++k) {
    const std::int64_t begin = address_of(request, k);
    for (std::int64_t word = begin / bank_bytes; word <= (begin + request.bytes - 1) / bank_bytes; ++word) {
      if (wired.emplace(request.lanes[k], word % banks).second)
        to.wire(lane_middle(request.lanes[k]), lanes_top + lane_height, lane_middle(word % banks),
                wires_bottom);
    }
  }
  for (int bank = 0; bank < banks; ++bank) {
    to.rect(picture_left + bank * box_width + 1, wires_bottom, box_width - 2, bank_height, paint::frame, 3);
    to.text(lane_middle(bank), wires_bottom + 13, std::to_string(bank), ink::cell, anchor::middle);
  }
  double y = wires_bottom + bank_height + 16;
  to.text(picture_left, y,
          "banks of shared memory, and below each the lanes that it serves, one wavefront after the other",
          ink::small);
  y += 8;
  std::size_t number = 0;
  for (const bank_words& part : parts) {
    const std::size_t rows = wavefronts_of(part);
    for (std::size_t row = 0; row < rows; ++row, y += row_height) {
      to.text(picture_left - 4, y + 11, std::to_string(++number), ink::cell, anchor::end);
      to.rect(picture_left, y, boxes_width, row_height - 1, paint::empty);
      for (std::size_t bank = 0; bank < banks; ++bank) {
        if (row >= part[bank].size()) continue;
        const double x = picture_left + static_cast<double>(bank) * box_width;
        to.rect(x + 1, y, box_width - 2, row_height - 1, row == 0 ? paint::served : paint::serialised);
        // On the hatching a number needs ground of its own.
        if (row > 0) to.rect(x + 5, y + 2, box_width - 10, row_height - 5, paint::empty, 2);
        to.text(x + box_width / 2, y + 10.5, takers(part[bank][row].lanes), ink::cell, anchor::middle);
      }
    }
    if (rows > 0) y += 5;
  }
  y += 18;
  to.text(picture_left, y, cost_text(request), request.units > request.least ? ink::warning : ink::note);
  y += 24;
  std::vector<std::pair<paint, std::string>> legend{{paint::served, "a bank's first word for these lanes"}};
  if (request.units > request.least)
    legend.push_back({paint::serialised, "another word of the same bank: serialised"});
  to.legend(picture_left, y, legend);
  return y + 16;
}

}  // namespace

std::string counted(std::int64_t number, const std::string& noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string request_text(const accesses_record& accesses, const request_record& request) {
  const std::string array =
      request.at.space == "shared" ? fmt::format(" ({})", request.array.name) : std::string();
  return fmt::format(
      "block {}, warp {}: {} {} of {} at this line, {} by each of {} in {} memory{}", accesses.block,
      request.warp, request.at.operation, request.request, request.requests, counted(request.bytes, "byte"),
      counted(static_cast<std::int64_t>(request.lanes.size()), "lane"), request.at.space, array);
}

std::string cost_text(const request_record& request) {
  if (request.at.space == "shared") {
    const std::int64_t conflicts = request.units - request.least;
    if (conflicts == 0) return fmt::format("{}: no bank conflict", counted(request.units, "wavefront"));
    return fmt::format("{} where {} would do: {}", counted(request.units, "wavefront"), request.least,
                       counted(conflicts, "bank conflict"));
  }
  const std::int64_t moved = request.units * sector_bytes;
  const std::int64_t used = used_bytes(sectors_of(request));
  std::string text = fmt::format("{}: {} bytes are moved", counted(request.units, "sector"), moved);
  if (used == moved) return text + ", and all were asked for";
  text += fmt::format(", {} were asked for, {} ({}) in vain", used, moved - used,
                      humanised_percentage(static_cast<double>(moved - used) / static_cast<double>(moved)));
  if (request.units > request.least)
    text += fmt::format("; side by side they would fill {}", counted(request.least, "sector"));
  return text;
}

std::string warp_picture(const picture_heading& heading, const accesses_record& accesses,
                         const request_record& request) {
  check_shape(request);
  svg to(fmt::format("{}, line {}: {}. {}", heading.title, request.at.line, request_text(accesses, request),
                     cost_text(request)));
  draw_heading(to, heading, accesses, request);
  draw_lanes(to, request);
  return to.document(request.at.space == "shared" ? draw_shared(to, request) : draw_global(to, request));
}

}  // namespace lab::front
