--[[
@agent broken.absent
@description Has no function for its tool.
@tool break_absent
@tool-description Breaks.
@tool-params {"type": "object", "properties": {}}
@preload true
]]

function something_else()
  return "never"
end
