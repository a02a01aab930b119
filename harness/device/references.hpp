// What a reference made of inputs that every stage of a track gets alike: worked out once, where it is
// costly.
//
// A process answers one request about one stage. What it works out here goes back with its answer, and the
// front hands it to the track's next processes. Nothing of it is believed against a stage: one that fails on
// what another process worked out is compared once more, with references of its own process.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace lab::references {

// The text that belongs to `key`: kept here, or made by `work_out`, which may ask for others.
std::string kept(const std::string& key, const std::function<std::string()>& work_out);

// What other processes worked out: used by kept() from now on.
void receive(std::map<std::string, std::string> worked_out);

// Drops what was received: whoever asks once more works it out. Whether there was anything.
bool distrust_received();

// What this process worked out.
std::map<std::string, std::string> worked_out_here();

}  // namespace lab::references
