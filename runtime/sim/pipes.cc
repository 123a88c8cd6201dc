#include "runtime/sim/pipes.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace onepass::sim {
namespace {

struct Row {
  std::string_view form;  // '*' stands for any characters, '?' for one
  Pipe pipe;
  int32_t slots;  // there
  int32_t alu;    // and in addition
  int32_t fma;
  int32_t cold;
  int32_t alu_since_90;
};

// The first row that fits counts.
constexpr Row kRows[] = {
    // Correctly rounded division and roots: Newton steps from MUFU; the slow path is a call.
    {"div.rn.f64", Pipe::kFp64, 800, 300, 0, 2200, 0},
    {"sqrt.rn.f64", Pipe::kFp64, 600, 400, 0, 1700, 0},
    {"rcp.rn.f64", Pipe::kFp64, 500, 300, 0, 1700, 0},
    {"div.rn.f32", Pipe::kSpecial, 100, 300, 600, 1050, 0},
    {"div.approx*f32", Pipe::kSpecial, 100, 200, 150, 0, 0},
    {"rcp.rn.f32", Pipe::kSpecial, 100, 300, 200, 1100, 0},
    {"sqrt.rn.f32", Pipe::kSpecial, 100, 400, 400, 1150, 0},
    // Integer division is a routine; 64 bits share one in the text.
    {"rem.?64", Pipe::kSpecial, 200, 5500, 2000, 1000, 0},
    {"div.?64", Pipe::kSpecial, 200, 2500, 1200, 600, 0},
    {"rem.?32", Pipe::kSpecial, 100, 1300, 500, 0, 0},
    {"div.?32", Pipe::kSpecial, 100, 1200, 400, 0, 0},
    {"div.?16", Pipe::kSpecial, 100, 600, 300, 0, 0},
    // Without .ftz, subnormals are scaled.
    {"ex2.approx.ftz*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"ex2*", Pipe::kSpecial, 100, 100, 130, 0, 0},
    {"lg2.approx.ftz*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"lg2*", Pipe::kSpecial, 100, 200, 100, 0, 0},
    {"rcp.approx*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"rsqrt*", Pipe::kSpecial, 100, 100, 100, 0, 0},
    {"sqrt.approx*", Pipe::kSpecial, 100, 100, 100, 0, 0},
    {"tanh*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"sin*", Pipe::kSpecial, 100, 0, 100, 0, 0},
    {"cos*", Pipe::kSpecial, 100, 0, 100, 0, 0},
    // Conversions to and from 64 bits go through the pipe of special functions.
    {"cvt.*.f64", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"cvt.f64*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"cvt.rn.f64*", Pipe::kSpecial, 100, 0, 0, 0, 0},
    {"cvt.sat.f32.f32", Pipe::kFma, 70, 0, 0, 0, 0},
    {"cvt.u32.u64", Pipe::kAlu, 0, 0, 0, 0, 0},
    {"cvt.u64.u32", Pipe::kAlu, 30, 0, 0, 0, 0},
    {"cvt*", Pipe::kAlu, 100, 0, 0, 0, 0},
    {"cvta*", Pipe::kAlu, 0, 0, 0, 0, 0},
    // Mostly modifiers of other operands.
    {"abs*", Pipe::kAlu, 10, 0, 0, 0, 0},
    {"neg*", Pipe::kAlu, 10, 0, 0, 0, 0},
    {"copysign*", Pipe::kAlu, 90, 0, 0, 0, 0},
    {"not*", Pipe::kAlu, 30, 0, 0, 0, 0},
    {"min.f64", Pipe::kFp64, 100, 330, 0, 0, 0},
    {"max.f64", Pipe::kFp64, 100, 330, 0, 0, 0},
    {"setp*f64", Pipe::kFp64, 100, 30, 0, 0, 70},
    {"selp*64", Pipe::kAlu, 160, 0, 0, 0, 30},
    // Since sm_90 constants of 64 bits are moved into registers.
    {"fma*f64", Pipe::kFp64, 100, 0, 0, 0, 60},
    {"add*f64", Pipe::kFp64, 100, 0, 0, 0, 20},
    {"sub*f64", Pipe::kFp64, 100, 0, 0, 0, 0},
    {"mul*f64", Pipe::kFp64, 100, 0, 0, 0, 20},
    {"fma*", Pipe::kFma, 100, 0, 0, 0, 0},
    {"add*f*", Pipe::kFma, 100, 0, 0, 0, 0},
    {"sub*f*", Pipe::kFma, 110, 0, 0, 0, 0},
    {"mul*f*", Pipe::kFma, 100, 0, 0, 0, 0},
    {"add.bf16*", Pipe::kFma, 100, 0, 0, 0, 0},
    // Integer multiplications go at half the rate of FMA, as ALU operations do.
    {"mul.wide*", Pipe::kAlu, 90, 0, 0, 0, 0},
    {"mul.hi.?64", Pipe::kAlu, 820, 0, 0, 0, 0},
    {"mul.lo.?64", Pipe::kAlu, 420, 0, 0, 0, 0},
    {"mad.lo.?64", Pipe::kAlu, 420, 0, 0, 0, 0},
    {"mul*", Pipe::kAlu, 150, 0, 0, 0, 0},
    {"mad*", Pipe::kAlu, 110, 0, 0, 0, 0},
    // Two of 32 bits, where the high half matters.
    {"add*64", Pipe::kAlu, 125, 0, 0, 0, 0},
    {"sub*64", Pipe::kAlu, 200, 0, 0, 0, 0},
    {"and.b64", Pipe::kAlu, 150, 0, 0, 0, 0},
    {"or.b64", Pipe::kAlu, 150, 0, 0, 0, 0},
    {"and.pred", Pipe::kAlu, 30, 0, 0, 0, 0},
    {"or.pred", Pipe::kAlu, 30, 0, 0, 0, 0},
    {"shl.b64", Pipe::kAlu, 180, 0, 0, 0, 0},
    {"shr.?64", Pipe::kAlu, 190, 0, 0, 0, 0},
    {"min.?64", Pipe::kAlu, 400, 0, 0, 0, 0},
    {"max.?64", Pipe::kAlu, 400, 0, 0, 0, 0},
    {"setp*64", Pipe::kAlu, 210, 0, 0, 0, 0},
    // Mostly gone in the text.
    {"mov.b32", Pipe::kAlu, 25, 0, 0, 0, 0},
    {"mov.b64", Pipe::kAlu, 60, 0, 0, 0, 0},
    {"mov.f32", Pipe::kAlu, 25, 0, 0, 0, 0},
    {"mov.f64", Pipe::kAlu, 0, 0, 0, 0, 60},
    {"mov.pred", Pipe::kAlu, 30, 0, 0, 0, 0},
    {"mov*", Pipe::kAlu, 70, 0, 0, 0, 0},
    {"ld.param*", Pipe::kAlu, 50, 0, 0, 0, 0},
    {"ld.acquire*", Pipe::kLsu, 100, 100, 0, 0, 0},
    {"ld.global.cs.v4*", Pipe::kLsu, 100, 0, 0, 0, 0},
    {"ld*", Pipe::kLsu, 100, 35, 0, 0, 0},
    {"st*", Pipe::kLsu, 100, 0, 0, 0, 0},
    {"atom*", Pipe::kLsu, 100, 200, 0, 0, 0},
    {"red.*", Pipe::kLsu, 100, 100, 0, 0, 0},
    {"cp.async*", Pipe::kLsu, 100, 0, 0, 0, 0},
    {"shfl*", Pipe::kLsu, 100, 25, 0, 0, 0},
    {"bar.red*", Pipe::kIssue, 100, 200, 0, 0, 0},
    {"bar*", Pipe::kIssue, 120, 0, 0, 0, 0},
    {"bra.uni", Pipe::kIssue, 50, 0, 0, 0, 0},
    {"bra", Pipe::kIssue, 100, 0, 0, 0, 0},
    {"ret", Pipe::kIssue, 100, 0, 0, 500, 0},
    {"*", Pipe::kAlu, 100, 0, 0, 0, 0},
};

bool Fits(std::string_view pattern, std::string_view text) {
  while (!pattern.empty()) {
    if (pattern[0] == '*') {
      pattern.remove_prefix(1);
      if (pattern.empty()) return true;
      for (; !text.empty(); text.remove_prefix(1)) {
        if (Fits(pattern, text)) return true;
      }
      return false;
    }
    if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  return text.empty();
}

}  // namespace

Slots SlotsOf(std::string_view form, int arch) {
  const Row& row = *std::find_if(std::begin(kRows), std::end(kRows) - 1,
                                 [&](const Row& r) { return Fits(r.form, form); });
  const int32_t alu = row.alu + (arch >= 90 ? row.alu_since_90 : 0);
  Slots slots;
  slots.on[static_cast<int>(row.pipe)] += row.slots;
  slots.on[static_cast<int>(Pipe::kAlu)] += alu;
  slots.on[static_cast<int>(Pipe::kFma)] += row.fma;
  slots.on[static_cast<int>(Pipe::kIssue)] = row.slots + alu + row.fma;
  slots.cold = row.cold;
  return slots;
}

std::vector<Slots> SlotsOf(const Kernel& kernel, int arch) {
  std::vector<Slots> slots(kernel.ops.size());
  std::vector<bool> seen(kernel.origins.size());
  absl::flat_hash_map<std::string_view, Slots> known;
  for (size_t i = 0; i < slots.size(); ++i) {
    const int32_t origin = kernel.origin_of[i];
    if (origin < 0 || seen[origin]) continue;
    seen[origin] = true;
    const std::string_view form = FormOf(kernel.origins[origin].text);
    const auto [entry, added] = known.try_emplace(form);
    if (added) entry->second = SlotsOf(form, arch);
    slots[i] = entry->second;
  }
  return slots;
}

std::string_view FormOf(std::string_view text) {
  if (text.substr(0, 1) == "@")
    text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_first_of(" \t\r\n;"));
}

int LanesOf(const Machine& machine, Pipe pipe) {
  switch (pipe) {
    case Pipe::kIssue:
      return 32 * machine.issue_warps;
    case Pipe::kAlu:
      return machine.alu_lanes;
    case Pipe::kFma:
      return machine.fma_lanes;
    case Pipe::kFp64:
      return machine.fp64_lanes;
    case Pipe::kSpecial:
      return machine.special_lanes;
    case Pipe::kLsu:
      return machine.lsu_lanes;
  }
  return 32;
}

}  // namespace onepass::sim
