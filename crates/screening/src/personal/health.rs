//! Detects that a text is about somebody's health. It finds the words of common conditions and treatments and
//! misses rarer ones; use it to keep less, not as proof that nothing was kept.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

static HEALTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(\b(?:diagnos\w+|allerg\w*|asthma\w*|diabet\w*|cancer|tumou?r\w*|depress\w+|anxiety|adhd|autis\w+|epilep\w+|hiv|hepatitis|pregnan\w+|miscarr\w+|chemo\w*",
        r"|blood pressure|insulin|migraine\w*|therapist|psychiatr\w+|antidepressant\w*|medication|surgery|disabilit\w+|mg of \w+",
        r"|krebs|depression\w*|angst\w*störung|schwanger\w*|bluthochdruck|migräne|medikament\w*|operation|behinderung|herzinfarkt|psychotherap\w+",
        r"|alergi\w+|cáncer|embaraz\w+|hipertensión|migraña|depresión|ansiedad|enfermedad|quimio\w*|allergi\w+|cancro|incinta|ipertensione|emicrania",
        r"|grossesse|enceinte|hypertension|dépression|maladie|traitement médical|grávida|câncer|pressão alta|doença|zwanger|kanker|bloeddruk)\b",
        r"|过敏|糖尿病|癌|抑郁|高血压|怀孕|哮喘|手术|アレルギー|うつ病|妊娠|喘息|手術|알레르기|당뇨|암 진단|우울증|임신|аллерги|диабет|рак |беременн|депресси|एलर्जी|मधुमेह|कैंसर|गर्भवती)",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    collect(&HEALTH, Class::Health, text, |_| true, &mut found);
    found
}
