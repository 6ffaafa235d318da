# The Ruby of docs/webhooks.md against the vectors, and against what a real service sent.

require "json"
require_relative "extracted/by_hand"
require_relative "extracted/library"

def vectors(variable)
  ENV.fetch(variable).split(":").flat_map { |path| JSON.parse(File.read(path))["vectors"] }
end

def library_says(vector, body)
  verify(body, vector["headers"].transform_keys(&:downcase), vector["secret"])
  true
rescue StandardWebhooks::StandardWebhooksError
  false
end

wrong = (vectors("VECTORS") + vectors("RECEIVED")).reject do |vector|
  genuine?(vector["body"], vector["headers"], vector["secret"]) == (vector["expected"]["service"] == "valid")
end
wrong += vectors("RECEIVED").reject do |vector|
  library_says(vector, vector["body"]) && !library_says(vector, vector["body"] + " ")
end
wrong.each { |vector| puts "wrong: #{vector["name"]}" }
exit wrong.empty?
