//! What the audit log records, and the chain that shows whether it was changed.

pub mod chain;

use crate::media::named_set;

named_set! {
    /// Something that was done, as noun and verb. The names are stored for ever; new ones may be
    /// added.
    Action {
        /// A team was created, with its subscription.
        TeamCreate = "team.create",
        /// A team was renamed.
        TeamUpdate = "team.update",
        /// A plan was created.
        PlanCreate = "plan.create",
        /// A plan was changed.
        PlanUpdate = "plan.update",
        /// A team's subscription was changed.
        SubscriptionUpdate = "subscription.update",
        /// A management token was created.
        TokenCreate = "token.create",
        /// A management token was disabled.
        TokenDisable = "token.disable",
        /// A site was created.
        SiteCreate = "site.create",
        /// A site's settings were changed.
        SiteUpdate = "site.update",
        /// An export of a site's data was created.
        ExportCreate = "export.create",
        /// Somebody began to download the archive of an export, or went on.
        ExportRead = "export.read",
        /// The archive of an export was imported.
        SiteImport = "site.import",
        /// A site key was created.
        KeyCreate = "key.create",
        /// A site's keys were replaced by a new one.
        KeyRotate = "key.rotate",
        /// A site key was disabled.
        KeyDisable = "key.disable",
        /// A person decided about a media item.
        MediaDecide = "media.decide",
        /// A person decided in a review. It is told when the time to undo it is over.
        ReviewDecide = "review.decide",
        /// A person undid a decision in a review before it was told.
        ReviewUndo = "review.undo",
        /// A person passed a review on to somebody else.
        ReviewSkip = "review.skip",
        /// A person passed a review on to the leads.
        ReviewEscalate = "review.escalate",
        /// A lead started a bulk decision: one decision about many reviews.
        BulkDecisionCreate = "bulk_decision.create",
        /// A bulk decision was stopped, and what could be undone of it was undone.
        BulkDecisionCancel = "bulk_decision.cancel",
        /// Somebody appealed against the verdict of a media item.
        MediaAppeal = "media.appeal",
        /// A person wrote a note about a media item.
        NoteCreate = "note.create",
        /// Somebody said what the right decision about a media item is.
        GoldenSet = "golden.set",
        /// Somebody took back what the right decision about a media item is.
        GoldenUnset = "golden.unset",
        /// A policy of the review desk was created.
        PolicyCreate = "policy.create",
        /// A policy of the review desk was changed.
        PolicyUpdate = "policy.update",
        /// A policy of the review desk was deleted.
        PolicyDelete = "policy.delete",
        /// A site's settings of the review desk were changed.
        DeskUpdate = "desk.update",
        /// Somebody asked for an erasure: everything that is stored about some items is removed.
        ErasureCreate = "erasure.create",
        /// An erasure that had failed was continued.
        ErasureResume = "erasure.resume",
        /// Somebody began to close a site or a team.
        ClosureCreate = "closure.create",
        /// A closure was cancelled: what it had disabled is open again.
        ClosureCancel = "closure.cancel",
        /// A closure that had failed was continued.
        ClosureResume = "closure.resume",
        /// A closure has ended: everything that was to be removed is removed.
        ClosureFinish = "closure.finish",
        /// A legal hold was created.
        HoldCreate = "hold.create",
        /// A legal hold was lifted.
        HoldLift = "hold.lift",
        /// A webhook endpoint was added to a site.
        EndpointCreate = "endpoint.create",
        /// A recovery was started: events are sent to a webhook endpoint again.
        RecoveryCreate = "recovery.create",
        /// A recovery was stopped.
        RecoveryCancel = "recovery.cancel",
        /// A webhook endpoint was changed.
        EndpointUpdate = "endpoint.update",
        /// A webhook endpoint was disabled by its owner.
        EndpointDisable = "endpoint.disable",
        /// A webhook endpoint was enabled again.
        EndpointEnable = "endpoint.enable",
        /// A webhook endpoint was deleted.
        EndpointDelete = "endpoint.delete",
        /// A webhook endpoint was tested.
        EndpointPing = "endpoint.ping",
        /// Waiting deliveries of a webhook endpoint were made due at once.
        EndpointRetry = "endpoint.retry_now",
        /// A site got a new webhook secret.
        WebhookSecretRotate = "webhook_secret.rotate",
        /// A delivery that had ended is sent again.
        DeliveryResend = "delivery.resend",
        /// A rule group was created.
        RuleGroupCreate = "rule_group.create",
        /// A rule group was renamed.
        RuleGroupUpdate = "rule_group.update",
        /// A rule group was deleted.
        RuleGroupDelete = "rule_group.delete",
        /// A rule group's draft was changed.
        RuleGroupEdit = "rule_group.edit",
        /// A rule group got a new version, which is not live.
        RuleGroupVersion = "rule_group.version",
        /// A version of a rule group went live: a new one, or an earlier one again.
        RuleGroupPublish = "rule_group.publish",
        /// A version began to judge in the shadow of the live one, or the shadow was removed.
        RuleGroupShadow = "rule_group.shadow",
        /// A backtest was started.
        BacktestCreate = "backtest.create",
        /// A backtest was stopped.
        BacktestCancel = "backtest.cancel",
        /// A hash list was created.
        HashListCreate = "hash_list.create",
        /// A hash list's name, description or distance was changed.
        HashListUpdate = "hash_list.update",
        /// A hash list was deleted.
        HashListDelete = "hash_list.delete",
        /// A hash was put on a list.
        HashEntryCreate = "hash_entry.create",
        /// A hash was taken off a list.
        HashEntryDelete = "hash_entry.delete",
        /// An import of a hash file was started.
        HashImportCreate = "hash_import.create",
        /// An import of a hash file was stopped.
        HashImportCancel = "hash_import.cancel",
        /// A scan of stored images was started.
        HashScanCreate = "hash_scan.create",
        /// A scan of stored images was stopped.
        HashScanCancel = "hash_scan.cancel",
        /// All secrets were sealed with a new master key.
        MasterKeyRotate = "master_key.rotate",
        /// A person was invited.
        InvitationCreate = "invitation.create",
        /// An invitation was withdrawn.
        InvitationCancel = "invitation.cancel",
        /// A person accepted an invitation.
        InvitationAccept = "invitation.accept",
        /// The provider of single sign-on made a person a member of a team, or an operator.
        PersonCreate = "person.create",
        /// A person's role or sites were changed.
        PersonUpdate = "person.update",
        /// A person was disabled.
        PersonDisable = "person.disable",
        /// A password reset link was created for a person.
        PasswordResetCreate = "password_reset.create",
        /// A person set a new password with a reset link.
        PasswordReset = "password.reset",
        /// A person changed the password.
        PasswordChange = "password.change",
        /// A person set up a second factor.
        FactorCreate = "factor.create",
        /// A person's second factor was removed.
        FactorDelete = "factor.delete",
        /// A person got new recovery codes.
        RecoveryCodesCreate = "recovery_codes.create",
        /// A person used a recovery code instead of the second factor.
        RecoveryCodeUse = "recovery_code.use",
        /// A person connected the account with the provider of single sign-on.
        IdentityCreate = "identity.create",
        /// A person disconnected the account from the provider of single sign-on.
        IdentityDelete = "identity.delete",
        /// What else could sign in to a person's account was ended, because the person joined a further team.
        AccessEnd = "access.end",
        /// Everything that could sign in to an account was ended, to hand the account to the owner of its address.
        AccountHandOver = "account.hand_over",
        /// An account gave its address up to a person whom the provider of single sign-on calls its owner.
        AddressGiveUp = "address.give_up",
        /// A person signed in.
        SessionCreate = "session.create",
        /// A session was ended.
        SessionEnd = "session.end",
        /// A team's rules for signing in were changed.
        SignInUpdate = "sign_in.update",
        /// A queue, or one of its groups or lanes, was paused, resumed or capped.
        QueueUpdate = "queue.update",
        /// Dead jobs were enqueued again.
        DeadJobsReplay = "dead_jobs.replay",
    }
}
