//! A rule group's version, compiled once and shared by all callers that examine content with it.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{
    Keyword, Link, MAX_NAME_CHARS, MAX_RULES, Rule, RuleKind, Violation,
    ai_threshold::Threshold,
    budget::{Limits, Meter, Over},
    content_rule::{ContentRule, Exceptions, Finding, MAX_EXCEPTIONS},
    error::{ErrorList, NUL, RuleErrorList, RuleErrors},
    image_hash::{MAX_IMAGE_HASHES, Recognition},
    keyword::{Keywords, MAX_KEYWORDS, check_term},
    link::{Links, MAX_DOMAINS, MAX_LINKS},
    pattern::{MAX_GROUP_POSITIONS, MAX_PATTERNS, Parsed, Patterns},
};
use crate::{
    id::{GroupVersionId, RuleGroupId},
    image_hash::HashMatch,
    score::{Category, Scores},
    text::Readings,
};

/// The content to examine.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The text, if there is one.
    pub text: Option<&'a str>,
    /// The result of the analysis; empty if none ran.
    pub scores: &'a Scores,
    /// The lists that the image is on; empty without an image.
    pub image_matches: &'a [HashMatch],
}

/// The compiled rules of one version of a group. Immutable; share it by `Arc`.
pub struct CompiledGroup {
    group: RuleGroupId,
    version: GroupVersionId,
    keywords: Keywords,
    patterns: Patterns,
    links: Links,
    /// Each with its place in the group.
    recognitions: Vec<(usize, Recognition)>,
    /// Each with its place in the group, too.
    thresholds: Vec<(usize, Threshold)>,
    categories: Vec<Category>,
}

impl CompiledGroup {
    /// Checks all rules, including disabled ones, and compiles the enabled ones. The group may take
    /// the default amount of memory, and as much time as it needs.
    ///
    /// # Errors
    /// Everything that is wrong with the rules, with its place.
    pub fn compile(
        group: RuleGroupId,
        version: GroupVersionId,
        rules: &[Rule],
    ) -> Result<Self, RuleErrors> {
        let limits = Limits {
            time: Duration::MAX,
            ..Limits::default()
        };
        Self::compile_within(group, version, rules, limits, &|| Duration::ZERO)
    }

    /// Like [`Self::compile`], within limits. `clock` returns the time that the compiling thread
    /// has used, counted from any start.
    ///
    /// During the build, memory can reach three times the limit. The time limit is exceeded by less
    /// than one piece of work: at most one automaton of the whole group.
    ///
    /// # Errors
    /// Everything that is wrong with the rules, with its place; or that they cost more than they
    /// may.
    pub fn compile_within(
        group: RuleGroupId,
        version: GroupVersionId,
        rules: &[Rule],
        limits: Limits,
        clock: &dyn Fn() -> Duration,
    ) -> Result<Self, RuleErrors> {
        let mut errors = ErrorList::default();
        if rules.len() > MAX_RULES {
            errors.group("rules", format!("a group has at most {MAX_RULES} rules"));
            return Err(errors.into_errors());
        }
        let mut meter = Meter::new(limits, clock);
        let places = rules.iter().enumerate();
        let compiled = Parts::check(places, &mut errors, &mut meter).and_then(|parts| {
            // Do not compile a group that has faulty rules.
            let parts = if errors.is_empty() {
                parts
            } else {
                Parts::default()
            };
            parts.compile(group, version, &mut meter)
        });
        if !errors.is_empty() {
            return Err(errors.into_errors());
        }
        compiled.map_err(|over| meter.refuse(over, rules))
    }

    /// The group.
    pub const fn group(&self) -> RuleGroupId {
        self.group
    }

    /// Its version.
    pub const fn version(&self) -> GroupVersionId {
        self.version
    }

    /// Whether any enabled rule asks for a score, so that an analysis must run.
    pub const fn uses_ai(&self) -> bool {
        !self.categories.is_empty()
    }

    /// The categories that enabled rules ask for, in document order.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Whether any enabled rule looks at the text itself.
    pub const fn examines_text(&self) -> bool {
        !(self.keywords.is_empty() && self.patterns.is_empty() && self.links.is_empty())
    }

    /// Whether a list of any enabled rule contains the image. If none does, that says nothing about
    /// the image.
    pub fn recognises(&self, image_matches: &[HashMatch]) -> bool {
        self.recognitions
            .iter()
            .any(|(_, rule)| rule.knows(image_matches))
    }

    /// Whether an allow list of any enabled rule contains the image. Then its team knows the image,
    /// and does not need the opinion of others.
    pub fn allows(&self, image_matches: &[HashMatch]) -> bool {
        self.recognitions
            .iter()
            .any(|(_, rule)| rule.allows(image_matches))
    }

    /// What the content violates, in the order of the rules. Each rule has at most one violation.
    pub fn examine(&self, content: &Content<'_>) -> Vec<Violation> {
        let mut found: Vec<(usize, Violation)> = self
            .thresholds
            .iter()
            .filter_map(|(order, rule)| Some((*order, rule.examine(self.group, content.scores)?)))
            .collect();
        found.extend(self.recognitions.iter().filter_map(|(order, rule)| {
            Some((*order, rule.examine(self.group, content.image_matches)?))
        }));
        if let Some(text) = content.text.filter(|_| self.examines_text()) {
            let text = Readings::new(text);
            let mut exceptions = Exceptions::new();
            let mut report = |finding: Finding<'_>| {
                let order = finding.rule.order;
                found.push((order, finding.into_violation(self.group, text.original())));
            };
            self.keywords.examine(&text, &mut exceptions, &mut report);
            self.patterns.examine(&text, &mut exceptions, &mut report);
            self.links.examine(&text, &mut exceptions, &mut report);
        }
        found.sort_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, violation)| violation).collect()
    }

    /// The memory it takes, in bytes, approximately: the weight for a bounded cache.
    pub fn approx_bytes(&self) -> usize {
        let names = |(_, threshold): &(usize, Threshold)| {
            size_of::<(usize, Threshold)>() + threshold.name.capacity()
        };
        let lists = |(_, recognition): &(usize, Recognition)| recognition.approx_bytes();
        size_of::<Self>()
            + self.keywords.approx_bytes()
            + self.patterns.approx_bytes()
            + self.links.approx_bytes()
            + self.thresholds.iter().map(names).sum::<usize>()
            + self.recognitions.iter().map(lists).sum::<usize>()
    }
}

/// Checks some rules of a group whose other rules are wrong, each with its place. If that takes too
/// long, the rest is not checked.
pub(super) fn check_apart(
    rules: &[(usize, Rule)],
    errors: &mut ErrorList,
    limits: Limits,
    clock: &dyn Fn() -> Duration,
) {
    let places = rules.iter().map(|(place, rule)| (*place, rule));
    // The group is refused for its wrong rules. The cost of the others is reported when these are
    // corrected.
    let _ = Parts::check(places, errors, &mut Meter::new(limits, clock));
}

/// Checks the members that every kind of rule has.
pub(crate) fn check_common(name: &str, exceptions: &[String], errors: &mut RuleErrorList<'_>) {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS {
        errors.add(
            "name",
            format!("must have 1 to {MAX_NAME_CHARS} characters"),
        );
    } else if name.contains('\0') {
        errors.add("name", NUL);
    }
    if exceptions.len() > MAX_EXCEPTIONS {
        errors.add(
            "exceptions",
            format!("must contain at most {MAX_EXCEPTIONS} terms"),
        );
    } else {
        for (at, term) in exceptions.iter().enumerate() {
            check_term(term, || format!("exceptions[{at}]"), errors);
        }
    }
}

/// The enabled rules by kind, while a group is compiled.
#[derive(Default)]
struct Parts<'a> {
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
    fn check(
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

    fn compile(
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
                    let content = ContentRule::new(order, rule, keyword.effect, meter)?;
                    self.keywords
                        .extend(content.map(|content| (content, keyword)));
                }
            }
            RuleKind::Regex(pattern) => {
                self.pattern_total += 1;
                if self.pattern_total <= MAX_PATTERNS {
                    let parsed = pattern.parse(errors);
                    let content = ContentRule::new(order, rule, pattern.effect, meter)?;
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
                    let content = ContentRule::new(order, rule, link.effect, meter)?;
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
