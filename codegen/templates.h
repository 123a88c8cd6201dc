// The text of templates/*.cuh, embedded at build time.
#pragma once

namespace onepass {

struct Template {
  const char* name;  // "row_multi_pass.cuh"
  const char* text;
};

extern const Template kTemplates[];
extern const int kTemplateCount;

}  // namespace onepass
