//! The rules of a group by kind, while the group is checked and compiled.

use super::{CompiledGroup, Threshold, check_common};
use crate::{
    id::{GroupVersionId, RuleGroupId},
    rules::{
        Keyword, Link, Rule, RuleEffect, RuleKind,
        budget::{Meter, Over},
        content_rule::{ContentRule, MAX_EXCEPTIONS},
        error_list::{ErrorList, RuleErrorList},
        image_hash::{MAX_IMAGE_HASHES, Recognition},
        keyword::{Keywords, MAX_KEYWORDS},
        link::{Links, MAX_DOMAINS, MAX_LINKS},
        pattern::{MAX_GROUP_POSITIONS, MAX_PATTERNS, Parsed, Patterns},
    },
    score::Category,
};

/// The enabled rules by kind, while a group is compiled.
#[derive(Default)]
pub(super) struct Parts<'a> {
    keywords: Vec<(ContentRule, &'a Keyword)>,
    patterns: Vec<(ContentRule, Parsed)>,
    links: Vec<(ContentRule, &'a Link)>,
    recognitions: Vec<(usize, Recognition)>,
    thresholds: Vec<(usize, Threshold)>,
    /// Counted over all rules, including disabled ones.
    keyword_total: usize,
    pattern_total: usize,
    link_total: usize,
    domain_total: usize,
    image_hash_total: usize,
}

impl<'a> Parts<'a> {
    /// Checks rules, each with its place in the group.
    pub(super) fn check(
        rules: impl Iterator<Item = (usize, &'a Rule)>,
        errors: &mut ErrorList,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let mut parts = Self::default();
        for (order, rule) in rules {
            meter.check_time()?;
            parts.add(order, rule, &mut errors.of(order, &rule.name), meter)?;
        }
        parts.check_totals(errors);
        Ok(parts)
    }

    pub(super) fn compile(
        self,
        group: RuleGroupId,
        version: GroupVersionId,
        meter: &mut Meter<'_>,
    ) -> Result<CompiledGroup, Over> {
        let thresholds = self.thresholds;
        let categories = Category::ALL
            .into_iter()
            .filter(|category| thresholds.iter().any(|(_, t)| t.rule.category == *category))
            .collect();
        let compiled = CompiledGroup {
            group,
            version,
            keywords: Keywords::new(self.keywords, meter)?,
            links: Links::new(self.links, meter)?,
            // Patterns come last: their searches may remember as much as is left.
            patterns: Patterns::new(self.patterns, meter)?,
            recognitions: self.recognitions,
            thresholds,
            categories,
        };
        let bytes = compiled.approx_bytes();
        if bytes > meter.limit() {
            return Err(Over::Bytes(bytes));
        }
        Ok(compiled)
    }

    fn add(
        &mut self,
        order: usize,
        rule: &'a Rule,
        errors: &mut RuleErrorList<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Over> {
        check_common(&rule.name, &rule.exceptions, errors);
        match &rule.kind {
            RuleKind::Keyword(keyword) => {
                self.keyword_total += keyword.keywords.len();
                // Over the limit, the group is refused anyway. Nothing is spent on the rest.
                if self.keyword_total <= MAX_KEYWORDS {
                    keyword.check(errors);
                    let content = content_rule(order, rule, keyword.effect, meter)?;
                    self.keywords
                        .extend(content.map(|content| (content, keyword)));
                }
            }
            RuleKind::Regex(pattern) => {
                self.pattern_total += 1;
                if self.pattern_total <= MAX_PATTERNS {
                    let parsed = pattern.parse(errors);
                    let content = content_rule(order, rule, pattern.effect, meter)?;
                    if let Some((content, parsed)) = content.zip(parsed) {
                        meter.charge(order, parsed.single_bytes())?;
                        self.patterns.push((content, parsed));
                    }
                }
            }
            RuleKind::Link(link) => {
                self.link_total += 1;
                self.domain_total += link.domains.len();
                if self.link_total <= MAX_LINKS && self.domain_total <= MAX_DOMAINS {
                    link.check(errors, meter)?;
                    let content = content_rule(order, rule, link.effect, meter)?;
                    self.links.extend(content.map(|content| (content, link)));
                }
            }
            RuleKind::ImageHash(image_hash) => {
                self.image_hash_total += 1;
                if self.image_hash_total <= MAX_IMAGE_HASHES {
                    image_hash.check(errors);
                    if !rule.exceptions.is_empty() {
                        let message =
                            "an image_hash rule has no exceptions: put the image on an allow list";
                        errors.add("exceptions", message);
                    }
                    if rule.enabled {
                        let recognition = Recognition::new(rule, image_hash);
                        self.recognitions.push((order, recognition));
                    }
                }
            }
            RuleKind::AiThreshold(threshold) => {
                threshold.check(errors);
                if !rule.exceptions.is_empty() {
                    errors.add("exceptions", "an ai_threshold rule has no exceptions");
                }
                if rule.enabled {
                    let (id, name, threshold) = (rule.id, rule.name.clone(), threshold.clone());
                    self.thresholds.push((
                        order,
                        Threshold {
                            id,
                            name,
                            rule: threshold,
                        },
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_totals(&self, errors: &mut ErrorList) {
        for (total, most, what) in [
            (self.keyword_total, MAX_KEYWORDS, "keywords"),
            (self.pattern_total, MAX_PATTERNS, "regex rules"),
            (self.link_total, MAX_LINKS, "link rules"),
            (self.domain_total, MAX_DOMAINS, "domains"),
            (self.image_hash_total, MAX_IMAGE_HASHES, "image_hash rules"),
        ] {
            if total > most {
                errors.group("rules", format!("a group has at most {most} {what}"));
            }
        }
        if self
            .patterns
            .iter()
            .map(|(_, parsed)| parsed.positions)
            .sum::<usize>()
            > MAX_GROUP_POSITIONS
        {
            errors.group(
                "rules",
                format!("the patterns together have more than {MAX_GROUP_POSITIONS} positions"),
            );
        }
    }
}

/// The common part of an enabled content rule; `None` for a disabled one.
fn content_rule(
    order: usize,
    rule: &Rule,
    effect: RuleEffect,
    meter: &mut Meter<'_>,
) -> Result<Option<ContentRule>, Over> {
    if !rule.enabled || rule.exceptions.len() > MAX_EXCEPTIONS {
        return Ok(None);
    }
    ContentRule::new(order, rule, effect, meter).map(Some)
}
